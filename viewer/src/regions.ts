// Parts of the address space in which blocks lie, each a row of the address map.

import type { State } from './state';

export interface Region {
  process: number;
  kind: string;
  begin: number;
  end: number;
  blocks: number[]; // by address, over the whole run: several may lie at the same place, one after the other
}

const kHeap = 2 ** 30; // a heap has pages of one kind
const kGap = 64 * 2 ** 20; // what is further apart gets a row of its own

/** The regions of the device and process that are chosen. */
export function regionsOf(state: State): Region[] {
  const { blocks, groups } = state.story;
  const order: number[] = [];
  for (let i = 0; i < blocks.group.length; i++) if (state.shows(groups[blocks.group[i]])) order.push(i);
  const process = (block: number) => groups[blocks.group[block]].process;
  order.sort((a, b) => process(a) - process(b) || blocks.address[a] - blocks.address[b]);
  const regions: Region[] = [];
  let last: Region | null = null;
  for (const block of order) {
    const begin = blocks.address[block];
    const end = begin + blocks.bytes[block];
    const { kind } = groups[blocks.group[block]];
    const sameHeap = last !== null && Math.floor(begin / kHeap) === Math.floor((last.end - 1) / kHeap);
    const joins: boolean = last !== null && last.process === process(block) && last.kind === kind && (begin < last.end || (sameHeap && begin - last.end < kGap));
    if (!joins || last === null) {
      last = { process: process(block), kind, begin, end, blocks: [] };
      regions.push(last);
    }
    last.end = Math.max(last.end, end);
    last.blocks.push(block);
  }
  return regions;
}

/** Holes between what is alive, and behind it up to the end of the region: places where blocks were, or will be. */
export function holesOf(region: Region, alive: number[], state: State): [begin: number, end: number][] {
  const { address, bytes } = state.story.blocks;
  const holes: [number, number][] = [];
  let at = region.begin;
  for (const block of alive) {
    if (address[block] > at) holes.push([at, address[block]]);
    at = Math.max(at, address[block] + bytes[block]);
  }
  if (at < region.end) holes.push([at, region.end]);
  return holes;
}
