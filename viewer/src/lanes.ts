// Streams as lanes: what ran when, what it moved, and how fast.

import { make, mouse, place, Sheet } from './dom';
import { kWork, type Lane } from './story';
import type { State } from './state';
import { colour } from './theme';
import { amount, clock, counted, duration, exact, share } from './words';

const kRow = 34;
const kLeft = 150;
const kTraffic = 44;
const kWait = kWork.indexOf('wait');

export class Lanes {
  private readonly sheet: Sheet;
  private readonly told = make('p', { class: 'told', role: 'status' });
  private from = 0;
  private to: number;
  private drag: { x: number; from: number; to: number } | null = null;

  constructor(private readonly state: State) {
    const { story } = state;
    this.to = Math.max(story.duration, 1);
    const box = place('lanes');
    const busy = story.lanes.map((lane) => `${lane.title}: ${counted(lane.tasks, 'task')}, busy for ${duration(lane.busy)}`).join('; ');
    const picture = make('div', { class: 'picture', tabindex: 0, role: 'img', 'aria-label': `Streams as lanes. ${busy}. The table below has the figures.` });
    const legend = make('span', { class: 'legend' });
    state.on(['theme'], () => {
      legend.replaceChildren(
        ...kWork.map((words, at) => {
          const patch = make('i');
          patch.style.background = colour(`work-${at}`);
          return make('span', {}, patch, words);
        }),
      );
    });
    const button = (text: string, act: () => void) => make('button', { type: 'button', click: act }, text);
    box.append(
      make('div', { class: 'tools' }, button('Zoom in', () => this.zoom(0.5, 0.5)), button('Zoom out', () => this.zoom(2, 0.5)), button('All', () => this.show(0, story.duration)), legend),
      picture,
      this.told,
    );
    this.told.textContent = 'Point at a bar to see what it is. The wheel zooms while Ctrl is held, dragging moves.';
    this.sheet = new Sheet(picture, () => this.paint());
    this.sheet.resize(story.lanes.length * kRow + story.traffic.length * kTraffic + 24);
    const { canvas } = this.sheet;
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, (mouse(event)[0] - kLeft) / (this.sheet.width - kLeft));
    });
    canvas.addEventListener('mousedown', (event) => (this.drag = { x: mouse(event)[0], from: this.from, to: this.to }));
    window.addEventListener('mouseup', () => (this.drag = null));
    canvas.addEventListener('mousemove', (event) => this.point(event));
    canvas.addEventListener('click', (event) => {
      const [x] = mouse(event);
      if (x > kLeft) state.pickTime(this.timeAt(x));
    });
    picture.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 0.2, ArrowLeft: -0.2 }[event.key];
      if (step !== undefined) this.show(this.from + step * (this.to - this.from), this.to + step * (this.to - this.from));
      else if (event.key === '+') this.zoom(0.5, 0.5);
      else if (event.key === '-') this.zoom(2, 0.5);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    state.on(['moment', 'theme'], () => this.sheet.draw());
  }

  private timeAt(x: number): number {
    return this.from + ((x - kLeft) / (this.sheet.width - kLeft)) * (this.to - this.from);
  }

  private zoom(factor: number, around: number): void {
    const length = (this.to - this.from) * factor;
    const middle = this.from + (this.to - this.from) * around;
    this.show(middle - length * around, middle + length * (1 - around));
  }

  private show(from: number, to: number): void {
    const end = Math.max(this.state.story.duration, 1);
    const length = Math.min(Math.max(to - from, 100), end);
    this.from = Math.max(0, Math.min(from, end - length));
    this.to = this.from + length;
    this.sheet.draw();
  }

  private paint(): void {
    const { story } = this.state;
    const { pen, width, height } = this.sheet;
    const scale = (width - kLeft) / (this.to - this.from);
    const x = (time: number) => kLeft + (time - this.from) * scale;
    pen.font = '12px system-ui, sans-serif';
    story.lanes.forEach((lane, at) => this.paintLane(lane, at * kRow, x));
    story.traffic.forEach((traffic, at) => {
      const top = story.lanes.length * kRow + at * kTraffic;
      const most = traffic.bytes.reduce((a, b) => Math.max(a, b), 0);
      const part = story.duration / traffic.bytes.length;
      pen.fillStyle = colour('ink');
      pen.fillText(traffic.title, 0, top + 16, kLeft - 8);
      pen.fillStyle = colour('ink-soft');
      pen.fillText(`most ${amount(Math.round(most / (part / 1e9)))}/s`, 0, top + 31, kLeft - 8);
      pen.fillStyle = colour('accent-soft');
      traffic.bytes.forEach((bytes, i) => {
        const from = Math.max(x(i * part), kLeft);
        const wide = x((i + 1) * part) - from;
        const high = most === 0 ? 0 : (bytes / most) * (kTraffic - 8);
        if (bytes > 0 && wide > 0) pen.fillRect(from, top + kTraffic - 2 - high, Math.max(wide, 1), Math.max(high, 1));
      });
    });
    pen.fillStyle = colour('ink-soft');
    for (let i = 0; i <= 4; i++) {
      const time = this.from + ((this.to - this.from) * i) / 4;
      pen.textAlign = i === 0 ? 'left' : i === 4 ? 'right' : 'center';
      pen.fillText(clock(time, (this.to - this.from) / 40), x(time), height - 6);
    }
    pen.textAlign = 'left';
    const now = x(this.state.time);
    if (now >= kLeft) {
      pen.fillStyle = colour('accent');
      pen.fillRect(now - 1, 0, 2, height - 20);
    }
  }

  private paintLane(lane: Lane, top: number, x: (time: number) => number): void {
    const { pen, width } = this.sheet;
    pen.fillStyle = colour('ink');
    pen.fillText(lane.title, 0, top + 14, kLeft - 8);
    pen.fillStyle = colour('ink-soft');
    pen.fillText(`busy ${share(lane.busy, this.state.story.duration)}`, 0, top + 28, kLeft - 8);
    pen.fillStyle = colour('hole');
    pen.fillRect(kLeft, top + 4, width - kLeft, kRow - 8);
    // What moves bytes is drawn over what only marks or waits.
    const order = lane.begin.map((_, i) => i).sort((a, b) => Number(lane.what[a] < kWait) - Number(lane.what[b] < kWait) || a - b);
    for (const i of order) {
      const from = Math.max(x(lane.begin[i]), kLeft);
      const to = Math.min(Math.max(x(lane.end[i]), from + 1), width);
      if (x(lane.end[i]) < kLeft || from > width) continue;
      pen.fillStyle = colour(`work-${lane.what[i]}`);
      pen.fillRect(from, top + 4, to - from, kRow - 8);
    }
  }

  private point(event: MouseEvent): void {
    const [x, y] = mouse(event);
    if (this.drag && event.buttons === 1) {
      const by = ((this.drag.x - x) / (this.sheet.width - kLeft)) * (this.drag.to - this.drag.from);
      this.show(this.drag.from + by, this.drag.to + by);
      return;
    }
    const lane = this.state.story.lanes[Math.floor(y / kRow)];
    if (!lane || x < kLeft) return;
    const time = this.timeAt(x);
    const near = (this.to - this.from) / (this.sheet.width - kLeft);
    const at = lane.begin.findIndex((begin, i) => time >= begin - near && time <= lane.end[i] + near);
    if (at < 0) return;
    const long = lane.end[at] - lane.begin[at];
    const bytes = lane.bytes[at];
    const fast = bytes > 0 && long > 0 ? `, ${amount(Math.round(bytes / (long / 1e9)))}/s` : '';
    this.told.textContent = `${lane.title}, ${clock(lane.begin[at])}: ${lane.count[at] > 1 ? `${lane.count[at]} times ` : ''}${kWork[lane.what[at]]}${bytes > 0 ? ` of ${exact(bytes)}` : ''}, ${duration(long)}${fast}.`;
  }
}
