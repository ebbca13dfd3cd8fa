// What a page must say, counted again from the records of its trace in the plainest way.

import { readTrace } from './trace_reader.mjs';

const kKinds = { 12: '4 KB pages', 21: '2 MB pages', 30: '1 GB pages' };
const isMemory = (record) => (record.what === 0 || record.what === 1) && [1, 2, 10, 11].includes(record.object);

export function recount(path) {
  const { processes, records } = readTrace(path);
  const deviceOf = (record) => (record.object === 2 || record.object === 11 ? -1 : processes[record.process].visible[record.device]);
  const short = (name) => name.replaceAll('(anonymous namespace)::', '');
  const frameName = (frame, modules) => {
    if (!frame.name) return `${(modules[frame.module] || 'code').split('/').pop()}+0x${frame.offset.toString(16)}`;
    if (!frame.file) return short(frame.name);
    return `${short(frame.name)} (${frame.file.split('/').pop()}${frame.line ? `:${frame.line}` : ''})`;
  };
  const functionOf = (frame) => (frame.lastIndexOf(' (') < 0 ? frame : frame.slice(0, frame.lastIndexOf(' (')));
  // Frames without words between others that have some are left out.
  const places = processes.map(({ definitions: { sites, modules } }) => {
    const framesOf = ({ frames }) => frames.filter((frame) => frame.name || frames.every((each) => !each.name)).map((frame) => frameName(frame, modules));
    // A function that several others allocate with is named after its caller.
    const callers = new Map();
    for (const site of sites.values()) {
      const [inner, outer] = framesOf(site);
      if (!outer || !site.called.includes('alloc')) continue;
      const helper = functionOf(inner);
      callers.set(helper, (callers.get(helper) ?? new Set()).add(outer));
    }
    return new Map(
      [...sites].map(([number, site]) => {
        const [inner, outer] = framesOf(site);
        const isHelper = outer && (callers.get(functionOf(inner))?.size ?? 0) >= 2;
        return [number, isHelper ? `${outer} via ${functionOf(inner)}` : inner];
      }),
    );
  });
  const nameOf = (record) => places[record.process].get(record.site) ?? record.called;
  const alive = new Map();
  const blocks = [];
  const peaks = new Map(); // by device, and by device and process
  const used = new Map();
  const unfreed = { blocks: 0, bytes: 0 };
  const add = (key, bytes, time, order) => {
    used.set(key, (used.get(key) ?? 0) + bytes);
    if (!peaks.has(key) || used.get(key) > peaks.get(key).bytes) peaks.set(key, { bytes: used.get(key), time, order });
  };
  // Several records may have the same time; their order says what came first.
  for (const [order, record] of records.entries()) {
    const key = `${record.process} ${record.serial}`;
    if (record.what === 21 && alive.has(key)) alive.get(key).label = record.text;
    if (!isMemory(record)) continue;
    const device = deviceOf(record);
    if (record.what === 0) {
      const block = { device, process: record.process, address: record.address, asked: record.bytes, bytes: record.pages * 4096, born: record.time, came: order, died: Infinity, went: Infinity, swept: false, name: nameOf(record), label: null, called: record.called, kind: kKinds[record.shift], thread: record.thread };
      alive.set(key, block);
      blocks.push(block);
      for (const sum of [`${device}`, `${device} ${record.process}`]) add(sum, block.bytes, record.time, order);
    } else if (alive.has(key)) {
      const block = alive.get(key);
      alive.delete(key);
      block.died = record.time;
      block.went = order;
      block.swept = (record.flags & 8) !== 0;
      for (const sum of [`${block.device}`, `${block.device} ${block.process}`]) add(sum, -block.bytes, record.time, order);
    }
  }
  for (const block of blocks) {
    if (block.died !== Infinity && !block.swept) continue;
    unfreed.blocks++;
    unfreed.bytes += block.bytes;
  }
  return {
    processes,
    records,
    blocks,
    peaks,
    unfreed,
    refusals: records.filter((record) => record.what === 16),
    aliveAfter: (order, device) => blocks.filter((block) => block.device === device && block.came <= order && block.went > order),
    /** What was alive on a device once all that happened up to a time had happened. */
    aliveAt: (time, device) => blocks.filter((block) => block.device === device && block.born <= time && block.died > time),
  };
}

/** Bytes by who holds them: the label a block ends with, or where it was made. */
export function byHolder(blocks) {
  const holders = new Map();
  for (const block of blocks) {
    const name = block.label ?? block.name;
    holders.set(name, (holders.get(name) ?? 0) + block.bytes);
  }
  return holders;
}
