// What the reader has chosen: a device, a moment, a block, words to look for. Pictures listen.

import type { Group, Story } from './story';

export type Change = 'series' | 'moment' | 'block' | 'search' | 'theme';

export class State {
  series = 0;
  moment = 0;
  block = -1;
  search = '';
  private readonly listeners: [Change[], () => void][] = [];
  private readonly lower: string[];

  constructor(readonly story: Story) {
    this.lower = story.names.map((name) => name.toLowerCase());
    this.series = Math.max(0, story.main);
    if (story.series.length > 0) this.moment = story.series[this.series].peak.moment;
  }

  on(changes: Change[], listener: () => void): void {
    this.listeners.push([changes, listener]);
    listener();
  }

  private tell(change: Change): void {
    for (const [changes, listener] of this.listeners) if (changes.includes(change)) listener();
  }

  pickSeries(series: number): void {
    this.series = series;
    this.tell('series');
  }

  pickMoment(moment: number): void {
    const inside = Math.max(0, Math.min(this.story.moments.times.length - 1, moment));
    if (inside === this.moment) return;
    this.moment = inside;
    this.tell('moment');
  }

  /** The last moment that is not after a time, or the nearest where only some are known. */
  pickTime(time: number): void {
    this.pickMoment(this.momentAt(time));
  }

  momentAt(time: number): number {
    const { times, all } = this.story.moments;
    const after = upperBound(times, time);
    if (all || after === times.length) return Math.max(0, after - 1);
    if (after === 0) return 0;
    return time - times[after - 1] <= times[after] - time ? after - 1 : after;
  }

  pickBlock(block: number): void {
    this.block = block;
    this.tell('block');
  }

  look(words: string): void {
    this.search = words.trim().toLowerCase();
    this.tell('search');
  }

  changedTheme(): void {
    this.tell('theme');
  }

  get time(): number {
    return this.story.moments.times[this.moment] ?? 0;
  }

  heldAt(group: number): Held {
    return held(this.story.groups[group], this.moment);
  }

  /** The largest block of a group that is alive at the picked moment; else the largest one; -1: none is told. */
  largestOf(group: number): number {
    const { blocks } = this.story;
    let best = -1;
    let most = -1;
    for (let i = 0; i < blocks.group.length; i++) {
      if (blocks.group[i] !== group) continue;
      const weight = blocks.bytes[i] + (this.isAlive(i) ? 2 ** 52 : 0);
      if (weight > most) [most, best] = [weight, i];
    }
    return best;
  }

  isAlive(block: number): boolean {
    const { born, died } = this.story.blocks;
    return born[block] <= this.time && (died[block] < 0 || died[block] > this.time);
  }

  /** Whether a group belongs to what is chosen: the device, and the process if one is. */
  shows(group: Group): boolean {
    const series = this.story.series[this.series];
    return group.device === series.device && (series.process < 0 || group.process === series.process);
  }

  /** Whether a group is among what is looked for. */
  found(group: Group): boolean {
    const words = this.search;
    if (words === '') return true;
    return (
      [group.name, group.function, group.policy, ...group.frames].some((name) => this.lower[name].includes(words)) ||
      group.kind.toLowerCase().includes(words)
    );
  }
}

/** How many of the rising numbers are at most `value`. */
export function upperBound(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Held {
  bytes: number;
  asked: number;
  count: number;
}

/** What a group holds at a moment. */
export function held(group: Group, moment: number): Held {
  const at = upperBound(group.moment, moment) - 1;
  return at < 0 ? { bytes: 0, asked: 0, count: 0 } : { bytes: group.bytes[at], asked: group.asked[at], count: group.count[at] };
}
