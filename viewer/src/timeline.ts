// Used memory over time, its kinds of pages stacked, with the peak, refusals, ranges and the picked moment.

import uPlot from 'uplot';
import { make, place } from './dom';
import type { Series } from './story';
import type { State } from './state';
import { colour, kindColour, nameColour } from './theme';
import { amount, clock, deviceName, exact } from './words';

const kHeight = 300;
const kBar = 14; // of a range

export class Timeline {
  private plot: uPlot | null = null;
  private readonly box = place('timeline');
  private readonly picture: HTMLElement;
  private readonly told = make('p', { class: 'told', role: 'status', 'aria-live': 'polite' });
  private stacked: number[][] = [];

  constructor(private readonly state: State) {
    this.picture = make('div', { class: 'picture', tabindex: 0, role: 'img' });
    this.box.append(this.chooser(), this.picture, this.told);
    state.on(['series', 'theme'], () => this.rebuild());
    state.on(['moment', 'series'], () => this.tellMoment());
    state.on(['moment'], () => this.plot?.redraw(false, false));
    new ResizeObserver(() => this.fit()).observe(this.picture);
  }

  private get series(): Series {
    return this.state.story.series[this.state.series];
  }

  private chooser(): HTMLElement {
    const select = make('select', { id: 'which', change: () => this.state.pickSeries(Number(select.value)) });
    this.state.story.series.forEach((each, at) => {
      const process = each.process < 0 ? '' : `, process ${this.state.story.processes[each.process].pid}`;
      select.append(make('option', { value: at }, `${deviceName(each.device)}${process}: at most ${amount(each.peak.bytes)}`));
    });
    select.value = String(this.state.series);
    this.state.on(['series'], () => (select.value = String(this.state.series)));
    const button = (text: string, title: string, act: () => void) => make('button', { type: 'button', title, click: act }, text);
    return make(
      'div',
      { class: 'tools' },
      make('label', { for: 'which' }, 'Memory of '),
      select,
      button('Peak', 'Go to the moment when most was in use (p)', () => this.state.pickMoment(this.series.peak.moment)),
      button('◀', 'One moment back (arrow left)', () => this.state.pickMoment(this.state.moment - 1)),
      button('▶', 'One moment on (arrow right)', () => this.state.pickMoment(this.state.moment + 1)),
      button('Zoom in', 'Look closer at the picked moment (+)', () => this.zoom(0.5)),
      button('Zoom out', 'See more (−)', () => this.zoom(2)),
      button('All', 'See the whole run (0)', () => this.show(0, this.state.story.duration)),
      this.legend(),
    );
  }

  private legend(): HTMLElement {
    const legend = make('span', { class: 'legend' });
    this.state.on(['series', 'theme'], () => {
      legend.replaceChildren(
        ...this.series.kinds.map((kind) => {
          const patch = make('i');
          patch.style.background = kindColour(kind);
          return make('span', {}, patch, kind);
        }),
        ...(this.state.story.refusals.length > 0 ? [make('span', { class: 'bad' }, '▼ a call was refused')] : []),
      );
    });
    return legend;
  }

  private rebuild(): void {
    const { series } = this;
    const end = Math.max(this.state.story.duration, 1);
    // The last state lasts until the end.
    const times = [...series.times, end];
    const sum = new Array<number>(times.length).fill(0);
    this.stacked = series.bytes.map((bytes) => {
      for (let i = 0; i < times.length; i++) sum[i] += bytes[Math.min(i, bytes.length - 1)];
      return [...sum];
    });
    // The whole stack is drawn first, and what lies lower over it.
    const layers = series.kinds.map((kind, at) => ({ kind, at })).reverse();
    const kept = this.plot ? { min: this.plot.scales.x.min!, max: this.plot.scales.x.max! } : null;
    this.plot?.destroy();
    const ink = colour('ink-soft');
    const grid = { stroke: colour('line'), width: 1 };
    const stepped = uPlot.paths.stepped!({ align: 1 });
    this.plot = new uPlot(
      {
        width: this.picture.clientWidth || 800,
        height: kHeight + this.rangeRows() * kBar,
        padding: [14 + this.rangeRows() * kBar, 12, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: true, y: false, dist: 6 }, points: { show: false }, y: false },
        scales: { x: { time: false }, y: { range: (_, __, max) => [0, this.top(max)] } },
        axes: [
          { stroke: ink, grid, ticks: grid, font: '12px system-ui', values: (_, marks) => marks.map((mark) => clock(mark, marks.length > 1 ? marks[1] - marks[0] : 0)) },
          { stroke: ink, grid, ticks: grid, font: '12px system-ui', size: 76, splits: (_, __, ___, max) => memorySplits(max), values: (_, marks) => marks.map(amount) },
        ],
        series: [{}, ...layers.map(({ kind }) => ({ label: kind, stroke: kindColour(kind), fill: kindColour(kind), width: 1, paths: stepped, points: { show: false } }))],
        hooks: {
          draw: [(plot) => this.drawMarks(plot)],
          ready: [(plot) => this.listen(plot)],
        },
      },
      [times, ...layers.map(({ at }) => this.stacked[at])] as uPlot.AlignedData,
      this.picture,
    );
    if (kept) this.plot.setScale('x', kept);
    this.picture.setAttribute(
      'aria-label',
      `Used memory of ${deviceName(series.device)} over ${clock(end)}: at most ${exact(series.peak.bytes)}, at ${clock(series.peak.time)}. ` +
        'Arrow keys move from moment to moment; the tables below tell the same in figures.',
    );
  }

  // The limit is shown where memory came near it.
  private top(max: number): number {
    const { limit, peak } = this.series;
    return limit > 0 && peak.bytes > limit / 3 ? Math.max(limit * 1.04, max) : Math.max(max * 1.08, 4096);
  }

  private rangeRows(): number {
    const { depth } = this.state.story.ranges;
    let rows = 0;
    for (const each of depth) rows = Math.max(rows, Math.min(each + 1, 4));
    return rows;
  }

  private listen(plot: uPlot): void {
    let down: [number, number] = [0, 0];
    plot.over.addEventListener('mousedown', (event) => (down = [event.clientX, event.clientY]));
    plot.over.addEventListener('mouseup', (event) => {
      if (Math.abs(event.clientX - down[0]) > 5) return; // a zoom
      this.state.pickTime(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x'));
      this.picture.focus({ preventScroll: true });
    });
  }

  private drawMarks(plot: uPlot): void {
    const pen = plot.ctx;
    const sharp = uPlot.pxRatio;
    const { left, top, width, height } = plot.bbox;
    const x = (time: number) => Math.round(plot.valToPos(time, 'x', true));
    const seen = (time: number) => time >= plot.scales.x.min! && time <= plot.scales.x.max!;
    pen.save();
    pen.font = `${12 * sharp}px system-ui, sans-serif`;
    pen.textAlign = 'left';
    pen.textBaseline = 'alphabetic';
    const upright = (time: number, stroke: string, dash: number[], wide = 1) => {
      pen.beginPath();
      pen.strokeStyle = stroke;
      pen.lineWidth = wide * sharp;
      pen.setLineDash(dash.map((each) => each * sharp));
      pen.moveTo(x(time), top);
      pen.lineTo(x(time), top + height);
      pen.stroke();
      pen.setLineDash([]);
    };
    const tag = (text: string, at: number, y: number, fill: string) => {
      const wide = pen.measureText(text).width;
      const start = Math.min(Math.max(at + 4 * sharp, left), left + width - wide - 4 * sharp);
      pen.fillStyle = colour('paper');
      pen.globalAlpha = 0.85;
      pen.fillRect(start - 2 * sharp, y - 11 * sharp, wide + 4 * sharp, 15 * sharp);
      pen.globalAlpha = 1;
      pen.fillStyle = fill;
      pen.fillText(text, start, y);
    };
    const { limit, peak } = this.series;
    const level = limit > 0 ? plot.valToPos(limit, 'y', true) : -1;
    if (limit > 0 && level >= top) {
      pen.strokeStyle = colour('bad');
      pen.lineWidth = 1.5 * sharp;
      pen.setLineDash([6 * sharp, 4 * sharp]);
      pen.beginPath();
      pen.moveTo(left, level);
      pen.lineTo(left + width, level);
      pen.stroke();
      pen.setLineDash([]);
      tag(`all there is: ${amount(limit)}`, left, level + 13 * sharp, colour('bad'));
    }
    for (const refusal of this.state.story.refusals) {
      if (!seen(refusal.time)) continue;
      pen.fillStyle = colour('bad');
      pen.beginPath();
      pen.moveTo(x(refusal.time) - 4 * sharp, top);
      pen.lineTo(x(refusal.time) + 4 * sharp, top);
      pen.lineTo(x(refusal.time), top + 9 * sharp);
      pen.fill();
    }
    if (seen(peak.time)) {
      upright(peak.time, colour('ink'), [3, 3]);
      tag(`peak ${amount(peak.bytes)}`, x(peak.time), top + 26 * sharp, colour('ink'));
    }
    if (seen(this.state.time)) upright(this.state.time, colour('accent'), [], 2);
    this.drawRanges(plot, x);
    pen.restore();
  }

  private drawRanges(plot: uPlot, x: (time: number) => number): void {
    const { ranges, names } = this.state.story;
    const rows = this.rangeRows();
    if (rows === 0) return;
    const pen = plot.ctx;
    const sharp = uPlot.pxRatio;
    const { left, top, width } = plot.bbox;
    pen.beginPath();
    pen.rect(left, 0, width, top);
    pen.clip();
    pen.font = `${11 * sharp}px system-ui, sans-serif`;
    for (let i = 0; i < ranges.name.length; i++) {
      if (ranges.depth[i] >= rows) continue;
      const from = x(ranges.begin[i]);
      const to = Math.max(x(ranges.end[i]), from + sharp);
      if (to < left || from > left + width) continue;
      const y = top - (rows - ranges.depth[i]) * kBar * sharp;
      pen.fillStyle = nameColour(names[ranges.name[i]]);
      pen.fillRect(from, y, to - from - sharp, (kBar - 2) * sharp);
      const start = Math.max(from, left) + 3 * sharp;
      if (to - start > 30 * sharp) {
        pen.save();
        pen.beginPath();
        pen.rect(from, y, to - from - sharp, kBar * sharp);
        pen.clip();
        pen.fillStyle = colour('ink');
        pen.fillText(names[ranges.name[i]], start, y + 9.5 * sharp);
        pen.restore();
      }
    }
  }

  private tellMoment(): void {
    const { state } = this;
    let bytes = 0;
    for (const [at, group] of state.story.groups.entries()) if (state.shows(group)) bytes += state.heldAt(at).bytes;
    const words = state.story.moments.words.filter(([moment]) => moment === state.moment).map(([, text]) => text);
    this.told.textContent = `At ${clock(state.time)}${words.length > 0 ? `, ${words.join(', ')}` : ''}: ${exact(bytes)} in use on ${deviceName(this.series.device)}.`;
    this.told.dataset.bytes = String(bytes);
    this.told.dataset.time = String(state.time);
  }

  zoom(factor: number): void {
    const { min, max } = this.plot!.scales.x;
    const half = ((max! - min!) * factor) / 2;
    const middle = factor < 1 ? this.state.time : (min! + max!) / 2;
    this.show(middle - half, middle + half);
  }

  show(from: number, to: number): void {
    const end = Math.max(this.state.story.duration, 1);
    this.plot?.setScale('x', { min: Math.max(0, from), max: Math.min(end, Math.max(to, from + 10)) });
  }

  private fit(): void {
    const width = this.picture.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
  }
}

/** Marks of the axis at round amounts of memory. */
export function memorySplits(max: number): number[] {
  let step = 1;
  while (max / step > 6) step *= 2;
  return Array.from({ length: Math.floor(max / step) + 1 }, (_, i) => i * step);
}
