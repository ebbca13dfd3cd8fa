// Writes traces byte by byte, as docs/trace-format.md says: made-up runs of any length, and hostile ones.

import { closeSync, openSync, writeSync } from 'node:fs';

const kUnit = 16384;
export const What = { allocated: 0, freed: 1, copied: 2, filled: 3, submitted: 4, begun: 5, done: 6, waited: 9, refused: 16, rangeBegun: 19, rangeEnded: 20, labelled: 21 };
export const Thing = { none: 0, deviceBlock: 1, hostBlock: 2, physical: 10 };
export const Field = { serial: 1, address: 2, bytes: 4, pages: 8, outcome: 16, stream: 32, position: 64, rule: 1 << 11, ways: 1 << 13, parts: 1 << 14, text: 1 << 15 };

/** Bytes that grow; numbers in seven bits each. */
class Bytes {
  data = Buffer.alloc(1 << 16);
  length = 0;
  room(bytes) {
    if (this.length + bytes <= this.data.length) return;
    const larger = Buffer.alloc(Math.max(this.data.length * 2, this.length + bytes));
    this.data.copy(larger);
    this.data = larger;
  }
  number(value) {
    this.room(10);
    if (typeof value === 'bigint') {
      for (value = BigInt.asUintN(64, value); value >= 128n; value >>= 7n) this.data[this.length++] = Number(value & 127n) | 128;
      this.data[this.length++] = Number(value);
      return;
    }
    while (value >= 128) {
      this.data[this.length++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    this.data[this.length++] = value;
  }
  signed(value) {
    this.number(value < 0 ? -2 * value - 1 : 2 * value);
  }
  text(text) {
    const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text);
    this.number(bytes.length);
    this.room(bytes.length);
    bytes.copy(this.data, this.length);
    this.length += bytes.length;
  }
  near(address, last) {
    const by = address - last;
    if (by % 4096 === 0 && by !== 0) {
      this.number(2 * (by < 0 ? (-2 * by) / 4096 - 1 : (2 * by) / 4096) + 1);
    } else {
      const folded = by < 0 ? -2 * by - 1 : 2 * by;
      this.number(folded === 0 ? 0 : 2 * folded);
      if (folded === 0) this.number(address);
    }
  }
}

/** A process of a trace. Each of its lanes is one thread. */
export class TraceProcess {
  lanes = new Map();
  definitions = new Bytes();
  texts = new Map();
  shapes = new Map();
  sites = 0;
  constructor(trace, number, facts) {
    Object.assign(this, { trace, number, facts: { pid: 1000 + number, name: 'made_up', soc: 'Ascend910B3', family: 'Atlas A2', product: 'A2', form: 'EP', devices: [65464696832], began: 0, ended: null, ...facts } });
  }
  text(text) {
    if (text === '') return 0;
    let number = this.texts.get(text);
    if (number === undefined) {
      this.definitions.number(1);
      this.definitions.text(text);
      this.texts.set(text, (number = this.texts.size + 1));
    }
    return number;
  }
  /** A call site of frames in words: [function, file, line], the innermost first. */
  site(called, frames) {
    const names = [this.text(called), ...frames.flatMap(([name, file]) => [this.text(name), this.text(file)])];
    const out = this.definitions;
    out.number(3);
    out.number(++this.sites);
    out.number(names[0]);
    out.number(frames.length);
    frames.forEach(([, , line], i) => {
      out.number(0);
      out.number(names[1 + 2 * i]);
      out.number(names[2 + 2 * i]);
      out.number(line);
    });
    return this.sites;
  }
  shape({ what, actor = 0, object = 0, operation = 0, shift = 0, module = 0, device = 0, flags = 0 }, site, called, fields) {
    const key = `${what} ${actor} ${object} ${operation} ${shift} ${device} ${flags} ${site} ${called} ${fields}`;
    let number = this.shapes.get(key);
    if (number === undefined) {
      const name = this.text(called);
      const out = this.definitions;
      out.number(4);
      out.number([what, actor, object, operation, shift, module, device, flags].reduce((sum, byte, at) => sum | (BigInt(byte) << BigInt(8 * at)), 0n));
      out.number(site);
      out.number(name);
      out.number(fields);
      this.shapes.set(key, (number = this.shapes.size));
    }
    return number;
  }
  lane(thread) {
    let lane = this.lanes.get(thread);
    if (!lane) this.lanes.set(thread, (lane = new Lane(this, thread, this.lanes.size)));
    return lane;
  }
}

class Lane {
  out = new Bytes();
  sequence = 0;
  time = 0;
  constructor(process, thread, number) {
    Object.assign(this, { process, thread, number });
    this.begin();
  }
  begin() {
    this.out.length = 0;
    this.start = this.time;
    this.serial = this.address = this.stream = this.position = this.extent = this.host = 0;
    this.out.number(1);
    this.out.number(this.thread);
  }
  end() {
    if (this.out.length === 0) return;
    this.process.trace.chunk(3, this.process.number, this.number, this.sequence++, this.start, this.out);
    this.begin();
  }
  /** One event. Fields that it has are those that are given. */
  put(head, { time, site = 0, called = '', serial, address, bytes, pages, outcome, stream, position, rule, ways, parts, text }) {
    const given = { serial, address, bytes, pages, outcome, stream, position, rule, ways, parts, text };
    let fields = 0;
    for (const [name, value] of Object.entries(given)) if (value !== undefined) fields |= Field[name];
    const { out } = this;
    out.number(16 + this.process.shape(head, site, called, fields));
    out.number(time - this.time);
    this.time = time;
    if (serial !== undefined) out.signed(serial - this.serial), (this.serial = serial);
    if (address !== undefined) out.near(address, this.address), (this.address = address);
    if (bytes !== undefined) out.number(bytes);
    if (pages !== undefined) {
      // What is likely: (bytes rounded up to 32) + 32, in whole pages
      const page = 2 ** (head.shift || 12);
      const likely = (Math.ceil((Math.ceil(bytes / 32) * 32 + 32) / page) * page) / 4096;
      out.signed(pages - likely);
    }
    if (outcome !== undefined) out.signed(outcome);
    if (stream !== undefined) out.signed(stream - this.stream), (this.stream = stream);
    if (position !== undefined) out.signed(position - this.position), (this.position = position);
    if (rule !== undefined) out.number(this.process.text(rule));
    if (ways !== undefined) {
      out.number(ways.reduce((bits, each, at) => bits | (each > 0 ? 1 << at : 0), 0));
      for (const each of ways) if (each > 0) out.number(each);
    }
    if (text !== undefined) out.text(text);
    if (out.length > 1 << 20) this.end();
  }
}

export class TraceWriter {
  processes = [];
  units = 1;
  constructor(path) {
    this.file = openSync(path, 'w');
    writeSync(this.file, Buffer.alloc(kUnit), 0, kUnit, 0);
  }
  process(facts) {
    const process = new TraceProcess(this, this.processes.length, facts);
    this.processes.push(process);
    return process;
  }
  chunk(kind, process, lane, sequence, time, bytes) {
    const units = Math.ceil((64 + bytes.length) / kUnit);
    const head = Buffer.alloc(64);
    head.write('BCHK');
    head[4] = kind;
    [process, lane, sequence, units].forEach((each, i) => head.writeUInt32LE(each, 8 + 4 * i));
    head.writeBigUInt64LE(BigInt(time), 24);
    head.writeBigUInt64LE(BigInt(bytes.length), 32);
    const whole = Buffer.alloc(units * kUnit);
    head.copy(whole);
    bytes.data.copy(whole, 64, 0, bytes.length);
    writeSync(this.file, whole, 0, whole.length, this.units * kUnit);
    this.units += units;
  }
  close() {
    for (const process of this.processes) {
      for (const lane of process.lanes.values()) lane.end();
      // Definitions in pieces, each of whole records: here one piece.
      this.chunk(2, process.number, 0, 0, 0, process.definitions);
      const { facts } = process;
      const place = new Bytes();
      place.room(11512);
      place.length = 11512;
      const { data } = place;
      data.writeInt32LE(facts.pid, 0);
      data.writeBigUInt64LE(BigInt(facts.began), 16);
      data.writeBigUInt64LE(BigInt(facts.ended ?? Math.max(1, ...[...process.lanes.values()].map((lane) => lane.time))), 24);
      [[32, 31, facts.name], [64, 31, facts.soc], [96, 63, facts.family], [160, 15, facts.product], [176, 15, facts.form]].forEach(([at, most, text]) => data.write(text, at, most));
      data.writeUInt32LE(facts.devices.length, 192);
      facts.devices.forEach((bytes, i) => {
        data[200 + i] = facts.visible?.[i] ?? i;
        data.writeBigUInt64LE(BigInt(bytes), 264 + 8 * i);
      });
      this.chunk(1, process.number, 0, 0, 0, place);
    }
    const header = Buffer.alloc(128);
    header.write('belaytrc');
    header.writeUInt32LE(1, 8);
    header.writeUInt32LE(kUnit, 12);
    header.writeBigUInt64LE(1n << 40n, 16);
    header.writeBigUInt64LE(0n, 24);
    header.writeBigUInt64LE(1763500000000000000n, 32);
    header.writeBigUInt64LE(BigInt(this.units), 80);
    header.writeBigUInt64LE(BigInt(this.processes.length), 88);
    writeSync(this.file, header, 0, 128, 0);
    closeSync(this.file);
  }
}
