// Puts the pictures of a page in their places. Without it the page is text and tables, with all exact figures.

import 'uplot/dist/uPlot.min.css';
import './viewer.css';
import { Addresses } from './addresses';
import { BlockLife } from './block';
import { make, place } from './dom';
import { Holders } from './holders';
import { addKeys } from './keys';
import { Lanes } from './lanes';
import { Processes } from './processes';
import { addSearch } from './search';
import { State } from './state';
import type { Story } from './story';
import { addTables } from './tables';
import { addThemeButton } from './theme';
import { Timeline } from './timeline';

function start(): void {
  const story = JSON.parse(place('story').textContent!) as Story;
  const state = new State(story);
  const theme = make('button', { type: 'button', id: 'theme' });
  place('tools').append(addSearch(state), theme);
  addThemeButton(theme, state);
  addTables(state);
  if (story.series.length > 0) {
    const timeline = new Timeline(state);
    new Holders(state);
    new Addresses(state);
    new BlockLife(state);
    new Processes(state);
    addKeys(state, timeline);
  }
  if (story.lanes.length > 0) new Lanes(state);
  document.documentElement.dataset.ready = 'yes';
  Object.assign(window, { belay: state }); // for those who look closer in the browser's console
}

start();
