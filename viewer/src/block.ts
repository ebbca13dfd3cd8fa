// The life of one block: who made it, when, what happened to it, who freed it.

import { make, place, Sheet } from './dom';
import type { State } from './state';
import { colour, nameColour } from './theme';
import { amount, clock, duration, exact, hex } from './words';

export class BlockLife {
  private readonly facts = make('div', { class: 'detail', role: 'status', 'aria-live': 'polite' });
  private readonly sheet: Sheet;

  constructor(private readonly state: State) {
    const box = place('block');
    const picture = make('div', { class: 'picture', role: 'img', 'aria-label': 'The life of the block in the time of the run; the facts below tell it in words' });
    box.append(picture, this.facts);
    this.sheet = new Sheet(picture, () => this.paint());
    this.sheet.resize(34);
    state.on(['block'], () => this.tell());
    state.on(['moment', 'theme'], () => this.sheet.draw());
  }

  private tell(): void {
    const { story, block } = this.state;
    this.sheet.draw();
    if (block < 0) {
      this.facts.replaceChildren('Choose a tile or a block in the map of addresses, or look for an address.');
      return;
    }
    const { blocks, names } = story;
    const group = story.groups[blocks.group[block]];
    const [born, died] = [blocks.born[block], blocks.died[block]];
    const facts: [string, string][] = [
      ['Address', hex(blocks.address[block])],
      ['Asked for', exact(blocks.asked[block])],
      ['Costs', `${exact(blocks.bytes[block])} in ${group.kind}; ${amount(blocks.bytes[block] - blocks.asked[block])} of it is waste`],
      ['Made', `at ${clock(born)} by ${names[group.function]}${names[group.policy] ? ` (${names[group.policy]})` : ''}, on thread ${blocks.thread[block]} of process ${story.processes[group.process].pid}`],
      ['Freed', died < 0 ? 'never' : `at ${clock(died)}, after ${duration(died - born)}${blocks.freed[block] >= 0 ? `, at ${names[blocks.freed[block]]}` : ''}`],
      ['Used by', blocks.touches[block] === 0 ? 'no copy, fill or task' : `${blocks.touches[block]} copies, fills or tasks`],
    ];
    this.facts.replaceChildren(
      make('h4', {}, names[group.name]),
      make('dl', {}, ...facts.flatMap(([term, text]) => [make('dt', {}, term), make('dd', {}, text)])),
      ...(group.frames.length > 0 ? [make('ol', { class: 'frames', 'aria-label': 'Where it was made' }, ...group.frames.map((frame) => make('li', {}, names[frame])))] : []),
      make('button', { type: 'button', click: () => this.state.pickTime(born) }, 'Go to its birth'),
    );
    this.facts.dataset.address = hex(blocks.address[block]);
    this.facts.dataset.bytes = String(blocks.bytes[block]);
  }

  private paint(): void {
    const { story, block, time } = this.state;
    const { pen, width } = this.sheet;
    const x = (at: number) => (at / Math.max(story.duration, 1)) * width;
    pen.fillStyle = colour('hole');
    pen.fillRect(0, 8, width, 16);
    if (block >= 0) {
      const { born, died, group } = story.blocks;
      const end = died[block] < 0 ? story.duration : died[block];
      pen.fillStyle = nameColour(story.names[story.groups[group[block]].name]);
      pen.fillRect(x(born[block]), 8, Math.max(2, x(end) - x(born[block])), 16);
      pen.strokeStyle = colour('ink-soft');
      pen.strokeRect(x(born[block]) + 0.5, 8.5, Math.max(2, x(end) - x(born[block])), 15);
    }
    pen.fillStyle = colour('accent');
    pen.fillRect(x(time) - 1, 2, 2, 28);
  }
}
