// Made-up runs, the same for the same seed: a training step, a serving run that runs out of memory, and plain churn
// of any length. node made_up.mjs KIND FILE [SEED] [EVENTS]

import { fileURLToPath } from 'node:url';
import { Field, Thing, TraceWriter, What } from './trace_writer.mjs';

void Field;
const MB = 2 ** 20;
export function random(seed) {
  let state = (seed * 2654435761) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
  next.below = (n) => Math.floor(next() * n);
  next.between = (a, b) => a + next.below(b - a + 1);
  return next;
}

const Op = { none: 0, copy: 1, fill: 7, recordEvent: 10, waitEvent: 11, hostFunction: 17, malloc: 21, free: 24 };
const Policy = { HUGE_FIRST: 0, HUGE_ONLY: 1, NORMAL_ONLY: 2 };

/** A thread of a process on one device, with a clock, that allocates as aclrtMalloc does. */
class Program {
  time = 1000;
  serial = 0;
  task = 0;
  positions = new Map();
  heaps = { 12: { next: 0x12c000000000, free: new Map() }, 21: { next: 0x12d000000000, free: new Map() } };
  sites = new Map();
  constructor(process, { thread = process.facts.pid, device = 0, total = 65464696832 } = {}) {
    Object.assign(this, { process, device, total, used: 0, lane: process.lane(thread) });
  }
  at(called, ...frames) {
    const key = called + JSON.stringify(frames);
    if (!this.sites.has(key)) this.sites.set(key, this.process.site(called, frames));
    return this.sites.get(key);
  }
  pass(ns) {
    this.time += Math.max(1, Math.round(ns));
  }
  malloc(bytes, site, policy = 'HUGE_FIRST') {
    this.pass(700);
    const huge = policy === 'HUGE_ONLY' || (policy === 'HUGE_FIRST' && bytes > MB);
    const shift = huge ? 21 : 12;
    const page = 2 ** shift;
    const charged = Math.ceil((Math.ceil(bytes / 32) * 32 + 32) / page) * page;
    if (this.used + charged > this.total) {
      this.lane.put({ what: What.refused, device: this.device }, { time: this.time, site, called: 'aclrtMalloc', bytes, outcome: 207001, rule: 'M-87', text: `the device has no memory left for ${bytes} bytes` });
      return null;
    }
    const heap = this.heaps[shift];
    const kept = heap.free.get(charged);
    const address = kept?.length ? kept.pop() : heap.next;
    if (address === heap.next) heap.next += charged;
    const block = { serial: ++this.serial, address, bytes, charged, shift };
    this.used += charged;
    this.lane.put({ what: What.allocated, object: Thing.deviceBlock, operation: Op.malloc, shift, device: this.device, flags: Policy[policy] << 4 }, { time: this.time, site, called: 'aclrtMalloc', serial: block.serial, address, bytes, pages: charged / 4096 });
    return block;
  }
  free(block, site = 0, swept = false) {
    this.pass(500);
    const heap = this.heaps[block.shift];
    if (!heap.free.has(block.charged)) heap.free.set(block.charged, []);
    heap.free.get(block.charged).push(block.address);
    this.used -= block.charged;
    this.lane.put({ what: What.freed, object: Thing.deviceBlock, operation: Op.free, shift: block.shift, device: this.device, flags: swept ? 8 : 0 }, { time: this.time, site, called: 'aclrtFree', serial: block.serial, address: block.address, bytes: block.bytes, pages: block.charged / 4096 });
  }
  label(block, text) {
    this.lane.put({ what: What.labelled, object: Thing.deviceBlock, device: this.device }, { time: this.time, serial: block.serial, text });
  }
  range(name, act) {
    this.lane.put({ what: What.rangeBegun }, { time: this.time, text: name });
    act();
    this.lane.put({ what: What.rangeEnded }, { time: this.time });
  }
  copy(bytes, way, gbPerSecond = 20) {
    this.pass(bytes / gbPerSecond);
    const ways = [0, 0, 0, 0];
    ways[way] = bytes;
    this.lane.put({ what: What.copied, operation: Op.copy, device: this.device }, { time: this.time, called: 'aclrtMemcpy', bytes, ways });
  }
  /** Queued work, done by the stream's own lane; the clock of the stream is its own. */
  queue(stream, operation, bytes, way, ns) {
    this.pass(900);
    const task = ++this.task;
    const position = (this.positions.get(stream.number) ?? 0) + 1;
    this.positions.set(stream.number, position);
    const ways = [0, 0, 0, 0];
    if (way !== null) ways[way] = bytes;
    const moved = way === null ? {} : { ways };
    const called = way === null ? 'aclrtLaunchHostFunc' : 'aclrtMemcpyAsync';
    this.lane.put({ what: What.submitted, operation, device: this.device }, { time: this.time, called, serial: task, bytes, stream: stream.number, position, ...moved });
    const begin = Math.max(stream.time, this.time + 200);
    stream.time = begin + Math.max(1, Math.round(ns));
    stream.lane.put({ what: What.begun, actor: 1, operation, device: this.device }, { time: begin, called, serial: task, stream: stream.number, position });
    stream.lane.put({ what: What.done, actor: 1, operation, device: this.device }, { time: stream.time, called, serial: task, stream: stream.number, position });
  }
  stream(number) {
    return { number, time: this.time, lane: this.process.lane(900000 + number) };
  }
  wait(stream, called = 'aclrtSynchronizeStream') {
    this.time = Math.max(this.time, stream.time) + 400;
    this.lane.put({ what: What.waited, device: this.device }, { time: this.time, called, stream: stream.number });
  }
}

export function training(path, seed = 1, { layers = 24, steps = 3, hidden = 4 * MB } = {}) {
  const dice = random(seed);
  const trace = new TraceWriter(path);
  const process = trace.process({ name: 'train.py' });
  const run = new Program(process);
  const main = ['main', '/src/train.py', 210];
  const at = (name, file, line) => run.at('aclrtMalloc', [name, file, line], main);
  const load = run.stream(1);
  const work = run.stream(2);
  const weights = [];
  run.range('load the model', () => {
    for (let i = 0; i < layers; i++) {
      const weight = run.malloc(hidden * 3 + 32 * dice.below(1000), at('load_weights', '/src/model.py', 41));
      run.label(weight, 'weights');
      run.copy(hidden, 1);
      weights.push(weight);
      const moments = run.malloc(hidden * 6, at('make_optimizer', '/src/adam.py', 17));
      run.label(moments, 'optimizer');
      weights.push(moments);
    }
  });
  for (let step = 0; step < steps; step++) {
    run.range(`step ${step}`, () => {
      const saved = [];
      run.range('forward', () => {
        for (let i = 0; i < layers; i++) {
          run.queue(load, Op.copy, 2 * MB, 1, 2 * MB / 18);
          saved.push(run.malloc(dice.between(MB, 3 * MB) * 2, at('attention', '/src/layers.py', 77)));
          const scratch = run.malloc(dice.between(1000, 900000), at('softmax_workspace', '/src/layers.py', 92));
          run.queue(work, Op.hostFunction, 0, null, dice.between(150000, 400000));
          run.free(scratch);
          saved.push(run.malloc(dice.between(100, 2 * MB), at('mlp', '/src/layers.py', 120)));
        }
        run.wait(work);
      });
      run.range('backward', () => {
        for (const block of saved.reverse()) {
          const gradient = run.malloc(dice.between(1, 4 * MB), at('backward', '/src/autograd.py', 310));
          run.queue(work, Op.hostFunction, 0, null, dice.between(100000, 300000));
          run.free(block);
          run.wait(work, 'aclrtFree');
          run.free(gradient);
        }
      });
      run.range('update', () => run.copy(8 * MB, 2));
    });
  }
  const forgotten = run.malloc(777, at('log_metrics', '/src/metrics.py', 9));
  void forgotten;
  for (const block of weights) run.free(block);
  trace.close();
}

/** Two processes on one device, of which one runs out of memory. */
export function serving(path, seed = 1, { requests = 120, total = 3072 * MB } = {}) {
  const dice = random(seed);
  const trace = new TraceWriter(path);
  const facts = { devices: [total] };
  const helper = new Program(trace.process({ name: 'tokenizer', ...facts }), { total });
  const run = new Program(trace.process({ name: 'server', ...facts }), { total: total - 192 * MB });
  const cache = helper.malloc(190 * MB, helper.at('aclrtMalloc', ['embed_table', '/src/tokenizer.cpp', 33]));
  helper.label(cache, 'embeddings');
  const at = (name, line) => run.at('aclrtMalloc', [name, '/src/server.cpp', line], ['serve', '/src/server.cpp', 12], ['main', '/src/server.cpp', 300]);
  run.label(run.malloc(1400 * MB, at('load_weights', 51)), 'weights');
  run.copy(1400 * MB, 1);
  const live = [];
  const decode = run.stream(7);
  for (let i = 0; i < requests; i++) {
    run.pass(dice.between(50000, 2000000));
    const blocks = [];
    const pages = dice.between(4, 24);
    for (let p = 0; p < pages; p++) {
      const block = run.malloc(2 * MB, at('grow_kv_cache', 88));
      if (!block) break;
      run.label(block, 'kv-cache');
      blocks.push(block);
      run.queue(decode, Op.copy, 2 * MB, 3, 40000);
    }
    const small = run.malloc(dice.between(100, 5000), at('request_state', 64));
    if (small) blocks.push(small);
    live.push(blocks);
    if (live.length > 30 || dice() < 0.2) {
      run.wait(decode);
      for (const block of live.splice(dice.below(live.length), 1)[0]) run.free(block);
    }
  }
  helper.time = run.time;
  helper.free(cache);
  for (const blocks of live) for (const block of blocks) run.free(block, 0, true);
  trace.close();
}

/** So many events of blocks that come and go, from many places in a program. */
export function churn(path, seed = 1, events = 10000) {
  const dice = random(seed);
  const trace = new TraceWriter(path);
  const run = new Program(trace.process({ name: 'churn' }));
  const sites = Array.from({ length: 60 }, (_, i) => run.at('aclrtMalloc', [`place_${i}`, `/src/part_${i % 7}.cpp`, 10 + i], ['main', '/src/main.cpp', 3]));
  const live = [];
  for (let i = 0; i < events; i++) {
    if (live.length > 0 && (live.length > 5000 || dice() < 0.48)) {
      const at = dice.below(live.length);
      run.free(live[at]);
      live[at] = live[live.length - 1];
      live.pop();
    } else {
      const bytes = dice() < 0.9 ? dice.between(1, 20000) : dice.between(1, 5 * MB);
      live.push(run.malloc(bytes, sites[dice.below(sites.length)]));
    }
    if (dice() < 0.001) run.pass(dice.between(1000, 5000000));
  }
  trace.close();
}

/** Names that would like to be markup, numbers that would like to overflow, and blocks that make no sense. */
export function hostile(path) {
  const evil = '</script><script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">';
  const trace = new TraceWriter(path);
  const run = new Program(trace.process({ name: '<b>evil</b>', pid: -5, product: '<i>', devices: [2 ** 40] }), { thread: 77 });
  const site = run.at('aclrtMalloc', [evil, `/x/${evil}`, 7]);
  const block = run.malloc(5000, site);
  run.label(block, `label ${evil}`);
  run.range(evil, () => run.malloc(3 * MB, site));
  const put = (what, fields) => run.lane.put({ what, object: Thing.deviceBlock, shift: 12, device: 63 }, { time: ++run.time, ...fields });
  put(What.allocated, { serial: 99, address: 2 ** 50, bytes: 2 ** 52, pages: 2 ** 51 });
  put(What.allocated, { serial: 99, address: 2 ** 50, bytes: 1, pages: 1 });
  put(What.freed, { serial: 12345, address: 1, bytes: 1, pages: 1 });
  put(What.allocated, { serial: 100, address: 0, bytes: 0, pages: 0, text: Buffer.from([0xff, 0xfe, 0x3c, 0x00, 0x41]) });
  run.lane.put({ what: What.refused }, { time: ++run.time, called: evil, outcome: 207001, text: evil, bytes: 2 ** 52 });
  trace.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [kind, path, seed, events] = process.argv.slice(2);
  ({ training, serving, churn, hostile })[kind](path, Number(seed ?? 1), kind === 'churn' ? Number(events ?? 10000) : undefined);
}
