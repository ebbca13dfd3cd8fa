// Who holds what at the picked moment: a treemap whose tiles are buttons, so that keys and screen readers reach them.

import { hierarchy, treemap } from 'd3-hierarchy';
import { make, place } from './dom';
import type { Group } from './story';
import type { State } from './state';
import { nameColour } from './theme';
import { amount, clock, counted, deviceName, exact, share } from './words';

const kHeight = 360;
const kMost = 200; // tiles; what is smaller is one

interface Tile {
  group: Group | null; // null: many small ones
  at: number;
  bytes: number;
  asked: number;
  count: number;
}

export class Holders {
  private readonly box = place('holders');
  private readonly heading = make('h3');
  private readonly map = make('div', { class: 'treemap', role: 'list' });
  private readonly detail = make('div', { class: 'detail', role: 'status' });
  private readonly table = make('tbody');
  private chosen = -1;

  constructor(private readonly state: State) {
    this.map.style.height = `${kHeight}px`;
    this.box.append(
      this.heading,
      this.map,
      this.detail,
      make(
        'details',
        {},
        make('summary', {}, 'The same as a table'),
        make(
          'table',
          {},
          make('thead', {}, make('tr', {}, ...['Where it was made, or its label', 'Function', 'Policy', 'Pages', 'Blocks', 'Bytes', 'Asked for'].map((each) => make('th', { scope: 'col' }, each)))),
          this.table,
        ),
      ),
    );
    state.on(['series', 'moment', 'search', 'theme'], () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.map);
  }

  private tiles(): Tile[] {
    const { state } = this;
    const tiles: Tile[] = [];
    state.story.groups.forEach((group, at) => {
      const now = state.heldAt(at);
      if (state.shows(group) && now.bytes > 0) tiles.push({ group, at, ...now });
    });
    tiles.sort((a, b) => b.bytes - a.bytes);
    if (tiles.length <= kMost) return tiles;
    const rest: Tile = { group: null, at: -1, bytes: 0, asked: 0, count: 0 };
    for (const tile of tiles.splice(kMost)) {
      rest.bytes += tile.bytes;
      rest.asked += tile.asked;
      rest.count += tile.count;
    }
    return [...tiles, rest];
  }

  private name(tile: Tile): string {
    return tile.group ? this.state.story.names[tile.group.name] : 'many small ones';
  }

  private draw(): void {
    const tiles = this.tiles();
    const total = tiles.reduce((sum, tile) => sum + tile.bytes, 0);
    const device = deviceName(this.state.story.series[this.state.series].device);
    this.heading.textContent = `${amount(total)} at ${clock(this.state.time)}, ${device}`;
    this.map.setAttribute('aria-label', `Who holds the ${exact(total)} that are in use at ${clock(this.state.time)}`);
    const width = this.map.clientWidth;
    if (width === 0) return;
    const root = hierarchy<Tile | { children: Tile[] }>({ children: tiles }).sum((tile) => ('bytes' in tile ? tile.bytes : 0));
    const laid = treemap<Tile | { children: Tile[] }>().size([width, kHeight]).paddingInner(2).round(true)(root);
    this.map.replaceChildren(...(total === 0 ? [make('p', { class: 'nothing' }, 'Nothing is held at this moment.')] : (laid.children ?? []).map((leaf) => this.tile(leaf.data as Tile, leaf, total))));
    this.table.replaceChildren(...tiles.map((tile) => this.row(tile)));
    const chosen = tiles.find((tile) => tile.at === this.chosen);
    this.explain(chosen ?? null, total);
  }

  private tile(tile: Tile, at: { x0: number; y0: number; x1: number; y1: number }, total: number): HTMLElement {
    const name = this.name(tile);
    const [wide, high] = [at.x1 - at.x0, at.y1 - at.y0];
    const words = `${name}: ${exact(tile.bytes)}, ${share(tile.bytes, total)}, ${counted(tile.count, 'block')}`;
    const found = this.state.search === '' || (tile.group !== null && this.state.found(tile.group));
    const button = make(
      'button',
      { type: 'button', class: found ? 'tile' : 'tile faint', title: words, 'aria-label': words, 'data-group': tile.at, 'data-bytes': tile.bytes, click: () => this.choose(tile, total) },
      ...(wide > 46 && high > 18 ? [make('b', {}, name)] : []),
      ...(wide > 60 && high > 34 ? [make('span', {}, `${amount(tile.bytes)} · ${share(tile.bytes, total)}`)] : []),
    );
    Object.assign(button.style, { left: `${at.x0}px`, top: `${at.y0}px`, width: `${wide}px`, height: `${high}px`, background: nameColour(name) });
    const item = make('div', { role: 'listitem' }, button);
    return item;
  }

  private choose(tile: Tile, total: number): void {
    this.chosen = tile.at;
    this.explain(tile, total);
    if (tile.group) this.state.pickBlock(this.state.largestOf(tile.at));
  }

  private explain(tile: Tile | null, total: number): void {
    if (!tile?.group) {
      this.detail.replaceChildren(tile ? 'Holders that are too small to be drawn one by one; the search finds them.' : 'Choose a tile to see who it is.');
      return;
    }
    const { names } = this.state.story;
    const { group } = tile;
    const facts: [string, string][] = [
      ['Holds now', `${exact(tile.bytes)}, ${share(tile.bytes, total)} of what is in use`],
      ['Asked for', `${exact(tile.asked)}; ${share(tile.bytes - tile.asked, tile.bytes)} of what it holds is waste`],
      ['Blocks', `${tile.count} now; ${group.made} made and ${group.freed} freed in the whole run`],
      ['Held at most', exact(group.peak)],
      ['Made by', `${names[group.function]}${names[group.policy] ? `, ${names[group.policy]}` : ''}, in ${group.kind}`],
    ];
    this.detail.replaceChildren(
      make('h4', {}, names[group.name]),
      make('dl', {}, ...facts.flatMap(([term, text]) => [make('dt', {}, term), make('dd', {}, text)])),
      ...(group.frames.length > 0 ? [make('ol', { class: 'frames', 'aria-label': 'Where it was made' }, ...group.frames.map((frame) => make('li', {}, names[frame])))] : []),
    );
  }

  private row(tile: Tile): HTMLElement {
    const { names } = this.state.story;
    const { group } = tile;
    const texts = [this.name(tile), group ? names[group.function] : '', group ? names[group.policy] : '', group ? group.kind : ''];
    return make('tr', {}, ...texts.map((text) => make('td', {}, text ?? '')), ...[tile.count, tile.bytes, tile.asked].map((figure) => make('td', { class: 'figure' }, String(figure))));
  }
}
