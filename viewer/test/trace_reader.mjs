// Reads traces from docs/trace-format.md alone, without any of belay's code: what pages say is compared with it.
// Strict: a file that is not well-formed throws.

import { readFileSync } from 'node:fs';

const kUnit = 16384;
const kFields = ['serial', 'address', 'bytes', 'pages', 'outcome', 'stream', 'position', 'record', 'object', 'value', 'caller', 'rule', 'flag', 'ways', 'parts', 'text'];

class Reader {
  constructor(data) {
    this.data = data;
    this.at = 0;
  }
  get left() {
    return this.data.length - this.at;
  }
  big() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.data[this.at++];
      if (byte === undefined) throw new Error('a number is cut off');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
  }
  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.data[this.at++];
      if (byte === undefined) throw new Error('a number is cut off');
      value += (byte & 127) * scale;
      if (byte < 128) return value; // exact below 2^53, as everything in well-formed traces but hashes is
    }
  }
  signed() {
    const folded = this.big();
    return Number(folded % 2n === 0n ? folded / 2n : -(folded + 1n) / 2n);
  }
  near(before) {
    const code = this.big();
    if (code === 0n) return this.number();
    const half = code / 2n;
    const by = Number(half % 2n === 0n ? half / 2n : -(half + 1n) / 2n);
    return before + (code % 2n === 1n ? by * 4096 : by);
  }
  text() {
    const length = this.number();
    const text = this.data.subarray(this.at, this.at + length).toString();
    this.at += length;
    return text;
  }
}

function definitionsOf(chunks) {
  const texts = [''];
  const sites = new Map([[0, { called: '', frames: [] }]]);
  const shapes = [];
  const modules = [''];
  const words = new Map();
  for (const chunk of chunks) {
    const from = new Reader(chunk.data);
    while (from.left > 0) {
      const kind = from.number();
      if (kind === 1) texts.push(from.text());
      else if (kind === 2) {
        modules.push(texts[from.number()]);
        from.number();
      } else if (kind === 3) {
        const number = from.number();
        const site = { called: texts[from.number()], frames: [] };
        for (let left = from.number(); left > 0; left--) {
          const how = from.number();
          if (how === 0) site.frames.push({ name: texts[from.number()], file: texts[from.number()], line: from.number() });
          else site.frames.push({ module: how - 1, offset: from.number() });
        }
        sites.set(number, site);
      } else if (kind === 4) {
        const word = from.big();
        const byte = (at) => Number((word >> BigInt(8 * at)) & 255n);
        shapes.push({ what: byte(0), actor: byte(1), object: byte(2), operation: byte(3), shift: byte(4), module: byte(5), device: byte(6), flags: byte(7), site: from.number(), called: texts[from.number()], fields: from.number() });
      } else if (kind === 5) {
        const key = `${from.number()} ${from.number()}`;
        const frames = [];
        for (let left = from.number(); left > 0; left--) frames.push({ name: from.text(), file: from.text(), line: from.number() });
        words.set(key, frames);
      } else throw new Error(`there is no definition ${kind}`);
    }
  }
  for (const site of sites.values()) site.frames = site.frames.flatMap((frame) => words.get(`${frame.module} ${frame.offset}`) ?? [frame]);
  return { texts, sites, shapes, modules };
}

function recordsOf(lane, { shapes, texts }, clock, process, records) {
  let last = 0;
  let thread = 0;
  for (const chunk of lane) {
    const from = new Reader(chunk.data);
    let time = Math.max(last, Math.max(0, Number(chunk.time - clock)));
    let [serial, address, extent, host, stream, position] = [0, 0, 0, 0, 0, 0];
    while (from.left > 0) {
      const head = from.number();
      if (head === 1) {
        thread = from.number();
        continue;
      }
      time += from.number();
      last = time;
      if (head === 2) {
        for (let left = from.number(); left > 0; left--) for (let i = 0; i < 8; i++) from.number();
        records.push({ time, process, what: -1 });
        continue;
      }
      const shape = shapes[head - 16];
      if (!shape) throw new Error(`there is no shape ${head - 16}`);
      const record = { ...shape, time, process, thread };
      const has = (name) => (shape.fields & (1 << kFields.indexOf(name))) !== 0;
      if (has('serial')) record.serial = serial += from.signed();
      if (has('address')) record.address = address = from.near(address);
      if (has('bytes')) record.bytes = from.number();
      if (has('pages')) {
        const page = 2 ** Math.max(12, shape.shift);
        const likely = (Math.ceil((Math.ceil((record.bytes ?? 0) / 32) * 32 + 32) / page) * page) / 4096;
        record.pages = likely + from.signed();
      }
      if (has('outcome')) record.outcome = from.signed();
      if (has('stream')) record.stream = stream += from.signed();
      if (has('position')) record.position = position += from.signed();
      for (const name of ['record', 'object', 'value']) if (has(name)) record[`${name}_`] = from.big();
      if (has('caller')) from.big(), from.big();
      if (has('rule')) record.rule = texts[from.number()];
      if (has('flag')) from.number();
      if (has('ways')) for (let ways = from.number(); ways > 0; ways >>= 1) if (ways & 1) from.number();
      if (has('parts')) {
        for (let left = from.number(); left > 0; left--) {
          const kind = from.number();
          if (kind & 16) {
            extent += from.signed();
            from.number();
          } else host = from.near(host);
          if (!(kind & 8)) from.number();
          if (kind & 4) from.number(), from.number();
        }
        from.number();
      }
      if (has('text')) record.text = from.text();
      records.push(record);
    }
  }
}

/** All that a trace holds: { processes: [{ pid, name, definitions }], records: [...] } in the order of time. */
export function readTrace(path) {
  const file = readFileSync(path);
  if (file.subarray(0, 8).toString() !== 'belaytrc') throw new Error('no trace');
  const clock = file.readBigUInt64LE(24);
  const kinds = { 1: [], 2: [], 3: [], 5: [] };
  for (let at = kUnit; at + 64 <= file.length; ) {
    if (file.subarray(at, at + 4).toString() !== 'BCHK') {
      at += kUnit;
      continue;
    }
    const [process, lane, sequence, units] = [8, 12, 16, 20].map((each) => file.readUInt32LE(at + each));
    const used = Number(file.readBigUInt64LE(at + 32));
    kinds[file[at + 4]]?.push({ process, lane, sequence, time: file.readBigUInt64LE(at + 24), data: file.subarray(at + 64, at + 64 + used) });
    at += units * kUnit;
  }
  const inOrder = (chunks) => chunks.sort((a, b) => a.sequence - b.sequence);
  const word = (data, at, most) => data.subarray(at, at + most).toString().split('\0')[0];
  const processes = kinds[1].map(({ process, data }) => ({
    number: process,
    pid: data.readInt32LE(0),
    name: word(data, 32, 32),
    product: word(data, 160, 16),
    ended: data.readBigUInt64LE(24) !== 0n,
    visible: [...data.subarray(200, 264)],
    devices: data.readUInt32LE(192),
    thinned: data.readBigUInt64LE(784) !== 0n,
    definitions: definitionsOf([...inOrder(kinds[2].filter((chunk) => chunk.process === process)), ...inOrder(kinds[5].filter((chunk) => chunk.process === process))]),
  }));
  const records = [];
  processes.forEach((process, at) => {
    const lanes = Map.groupBy ? Map.groupBy(kinds[3].filter((chunk) => chunk.process === process.number), (chunk) => chunk.lane) : groupBy(kinds[3].filter((chunk) => chunk.process === process.number));
    for (const lane of lanes.values()) recordsOf(inOrder(lane), process.definitions, clock, at, records);
  });
  records.forEach((record, at) => (record.order = at));
  records.sort((a, b) => a.time - b.time || a.order - b.order);
  return { processes, records };
}

function groupBy(chunks) {
  const lanes = new Map();
  for (const chunk of chunks) {
    if (!lanes.has(chunk.lane)) lanes.set(chunk.lane, []);
    lanes.get(chunk.lane).push(chunk);
  }
  return lanes;
}
