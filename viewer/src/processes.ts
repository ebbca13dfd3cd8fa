// Processes side by side: the memory of each on the chosen device, on one scale of time and of bytes.

import { make, place, Sheet } from './dom';
import type { Series } from './story';
import { upperBound, type State } from './state';
import { colour, kindColour } from './theme';
import { amount, clock, deviceName } from './words';

const kRow = 78;

export class Processes {
  private readonly sheet: Sheet;
  private rows: Series[] = [];

  constructor(private readonly state: State) {
    const picture = make('div', { class: 'picture', role: 'img' });
    place('processes').append(picture);
    this.sheet = new Sheet(picture, () => this.paint());
    this.sheet.canvas.addEventListener('click', (event) => {
      const row = this.rows[Math.floor(event.offsetY / kRow)];
      if (row) state.pickSeries(state.story.series.indexOf(row));
      state.pickTime((event.offsetX / this.sheet.width) * state.story.duration);
    });
    state.on(['series'], () => {
      const { device } = state.story.series[state.series];
      const own = state.story.series.filter((each) => each.device === device && each.process >= 0);
      this.rows = own.length > 0 ? own : state.story.series.filter((each) => each.device === device);
      this.sheet.resize(this.rows.length * kRow);
      picture.setAttribute('aria-label', `Processes on ${deviceName(device)}: ${this.rows.map((row) => `${this.title(row)} at most ${amount(row.peak.bytes)}`).join(', ')}`);
    });
    state.on(['series', 'moment', 'theme'], () => this.sheet.draw());
  }

  private title(row: Series): string {
    const process = this.state.story.processes[Math.max(row.process, 0)];
    return process ? `process ${process.pid} ${process.name}` : 'all';
  }

  private paint(): void {
    const { pen, width } = this.sheet;
    const { duration } = this.state.story;
    const most = Math.max(1, ...this.rows.map((row) => row.peak.bytes));
    const x = (time: number) => (time / Math.max(duration, 1)) * width;
    this.rows.forEach((row, at) => {
      const bottom = (at + 1) * kRow - 6;
      const high = kRow - 26;
      // One column for each pixel: the highest state in it.
      for (let column = 0; column < width; column++) {
        const first = Math.max(0, upperBound(row.times, (column / width) * duration) - 1);
        const last = Math.max(first, upperBound(row.times, ((column + 1) / width) * duration) - 1);
        if (row.times.length === 0 || row.times[first] > ((column + 1) / width) * duration) continue;
        let [best, sum] = [first, -1];
        for (let i = first; i <= last; i++) {
          const all = row.bytes.reduce((total, kind) => total + kind[i], 0);
          if (all > sum) [best, sum] = [i, all];
        }
        let y = bottom;
        row.kinds.forEach((kind, k) => {
          const part = (row.bytes[k][best] / most) * high;
          pen.fillStyle = kindColour(kind);
          pen.fillRect(column, y - part, 1, part);
          y -= part;
        });
      }
      pen.fillStyle = colour('line');
      pen.fillRect(0, bottom, width, 1);
      pen.fillStyle = colour('ink');
      pen.font = '12px system-ui, sans-serif';
      pen.fillText(`${this.title(row)}: at most ${amount(row.peak.bytes)}, at ${clock(row.peak.time)}`, 0, at * kRow + 14);
    });
    pen.fillStyle = colour('accent');
    pen.fillRect(x(this.state.time) - 1, 0, 2, this.rows.length * kRow);
  }
}
