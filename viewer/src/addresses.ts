// Where blocks lie at the picked moment: a row for each region of addresses, with its holes.

import { make, mouse, place, Sheet } from './dom';
import { holesOf, regionsOf, type Region } from './regions';
import type { State } from './state';
import { colour, kindColour, nameColour } from './theme';
import { amount, clock, counted, exact, hex } from './words';

const kRow = 40;
const kBar = 20;
const kMost = 24; // rows; the others are named

export class Addresses {
  private readonly box = place('addresses');
  private readonly heading = make('h3');
  private readonly hint = make('p', { class: 'told', role: 'status' });
  private readonly note = make('p', { class: 'note' });
  private readonly sheet: Sheet;
  private regions: Region[] = [];
  private rows: { region: Region; alive: number[]; holes: [number, number][] }[] = [];

  constructor(private readonly state: State) {
    const picture = make('div', { class: 'picture', tabindex: 0, role: 'img' });
    this.box.append(this.heading, picture, this.hint, this.note);
    this.sheet = new Sheet(picture, () => this.paint());
    picture.addEventListener('keydown', (event) => this.key(event));
    this.sheet.canvas.addEventListener('mousemove', (event) => this.point(event, false));
    this.sheet.canvas.addEventListener('click', (event) => this.point(event, true));
    state.on(['series'], () => (this.regions = regionsOf(state)));
    state.on(['series', 'moment'], () => this.look());
    state.on(['block', 'search', 'theme'], () => this.sheet.draw());
  }

  private look(): void {
    const { state } = this;
    const { bytes } = state.story.blocks;
    const rows = this.regions.map((region) => {
      const alive = region.blocks.filter((block) => state.isAlive(block));
      return { region, alive, used: alive.reduce((sum, block) => sum + bytes[block], 0), holes: holesOf(region, alive, state) };
    });
    const seen = rows.filter((row) => row.used > 0);
    const kept = [...seen].sort((a, b) => b.used - a.used).slice(0, kMost);
    this.rows = seen.filter((row) => kept.includes(row));
    const holes = seen.flatMap((row) => row.holes.map(([begin, end]) => end - begin));
    const empty = holes.reduce((sum, each) => sum + each, 0);
    this.heading.textContent = `${counted(seen.reduce((sum, row) => sum + row.alive.length, 0), 'block')} in ${counted(seen.length, 'region')} at ${clock(state.time)}`;
    const largest = holes.reduce((most, each) => Math.max(most, each), 0);
    this.hint.textContent = holes.length === 0 ? 'There are no holes between the blocks.' : `${counted(holes.length, 'hole')} of ${amount(empty)} in all; the largest is ${exact(largest)}.`;
    const notes = [];
    if (!state.story.blocks.all) notes.push('Only the blocks that matter most are drawn; a hole may hold smaller ones.');
    if (seen.length > kept.length) notes.push(`The ${kMost} regions that hold most are drawn, of ${seen.length}.`);
    this.note.textContent = notes.join(' ');
    this.sheet.canvas.parentElement!.setAttribute('aria-label', `Map of addresses: ${this.heading.textContent}. ${this.hint.textContent} Arrow keys go from block to block.`);
    this.sheet.resize(Math.max(1, this.rows.length) * kRow);
    this.sheet.draw();
  }

  private paint(): void {
    const { pen, width } = this.sheet;
    const { story } = this.state;
    const { address, bytes, group } = story.blocks;
    this.rows.forEach(({ region, alive }, at) => {
      const top = at * kRow;
      const scale = width / (region.end - region.begin);
      pen.font = '12px system-ui, sans-serif';
      pen.fillStyle = colour('ink-soft');
      const whose = story.processes.length > 1 ? `process ${story.processes[region.process].pid}, ` : '';
      pen.fillText(`${whose}${hex(region.begin)}, ${amount(region.end - region.begin)} in ${region.kind}`, 10, top + 12);
      pen.fillStyle = kindColour(region.kind);
      pen.fillRect(0, top + 3, 6, 10);
      pen.fillStyle = colour('hole');
      pen.fillRect(0, top + 17, width, kBar);
      for (const block of alive) {
        const from = (address[block] - region.begin) * scale;
        const wide = Math.max(bytes[block] * scale, 0.7);
        const owner = story.groups[group[block]];
        pen.globalAlpha = this.state.found(owner) ? 1 : 0.15;
        pen.fillStyle = nameColour(story.names[owner.name]);
        pen.fillRect(from, top + 17, wide, kBar);
        if (wide > 4) {
          pen.fillStyle = colour('paper');
          pen.fillRect(from + wide - 1, top + 17, 1, kBar);
        }
        if (block === this.state.block) {
          pen.strokeStyle = colour('accent');
          pen.lineWidth = 2;
          pen.strokeRect(from + 1, top + 16, Math.max(wide - 2, 2), kBar + 2);
        }
      }
      pen.globalAlpha = 1;
    });
  }

  private point(event: MouseEvent, choose: boolean): void {
    const [x, y] = mouse(event);
    const row = this.rows[Math.floor(y / kRow)];
    if (!row) return;
    const { story } = this.state;
    const { address, bytes, group } = story.blocks;
    const at = row.region.begin + (x / this.sheet.width) * (row.region.end - row.region.begin);
    const near = (2 * (row.region.end - row.region.begin)) / this.sheet.width; // two pixels
    const block = row.alive.find((each) => at >= address[each] - near && at < address[each] + bytes[each] + near) ?? -1;
    if (block >= 0 && choose) this.state.pickBlock(block);
    if (block >= 0) {
      this.sheet.canvas.title = `${hex(address[block])}: ${exact(bytes[block])} of ${story.names[story.groups[group[block]].name]}`;
      return;
    }
    const hole = row.holes.find(([begin, end]) => at >= begin && at < end);
    this.sheet.canvas.title = hole ? `hole of ${exact(hole[1] - hole[0])} at ${hex(hole[0])}` : '';
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const all = this.rows.flatMap((row) => row.alive);
    if (step === undefined || all.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = all.indexOf(this.state.block);
    this.state.pickBlock(all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + step))]);
  }
}
