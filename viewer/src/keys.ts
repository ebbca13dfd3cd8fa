// Keys for the whole page, unless something is being typed.

import { place } from './dom';
import type { State } from './state';
import type { Timeline } from './timeline';

export function addKeys(state: State, timeline: Timeline): void {
  const last = state.story.moments.times.length - 1;
  const keys: Record<string, (event: KeyboardEvent) => void> = {
    ArrowLeft: (event) => state.pickMoment(state.moment - (event.shiftKey ? 10 : 1)),
    ArrowRight: (event) => state.pickMoment(state.moment + (event.shiftKey ? 10 : 1)),
    Home: () => state.pickMoment(0),
    End: () => state.pickMoment(last),
    p: () => state.pickMoment(state.story.series[state.series].peak.moment),
    '+': () => timeline.zoom(0.5),
    '-': () => timeline.zoom(2),
    '0': () => timeline.show(0, state.story.duration),
    '/': () => place('search').focus(),
    t: () => place('theme').click(),
  };
  document.addEventListener('keydown', (event) => {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    // Home and End scroll the page, unless the timeline has the focus.
    if ((event.key === 'Home' || event.key === 'End') && !place('timeline').contains(target as Node)) return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
