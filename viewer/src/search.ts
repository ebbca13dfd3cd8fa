// The search: words dim what does not match in pictures and tables; an address leads to the block that is there.

import { make } from './dom';
import type { State } from './state';
import { counted } from './words';

export function addSearch(state: State): HTMLElement {
  const found = make('span', { class: 'found', role: 'status', 'aria-live': 'polite' });
  const input = make('input', {
    id: 'search',
    type: 'search',
    placeholder: 'Search: a function, a label, an address',
    'aria-label': 'Search for a function, a file, a label, a policy or an address',
    autocomplete: 'off',
    input: () => look(),
  });
  const look = () => {
    const words = input.value.trim();
    if (/^0x[0-9a-f]+$/i.test(words)) {
      const block = blockAt(state, Number(words));
      state.look('');
      if (block >= 0) state.pickBlock(block);
      found.textContent = block < 0 ? 'no block that the page knows was there' : 'the block is told under "The life of a block"';
      return;
    }
    state.look(words);
    const holders = state.story.groups.filter((group) => state.found(group)).length;
    found.textContent = words === '' ? '' : counted(holders, 'holder');
  };
  return make('div', { role: 'search', class: 'search' }, input, found);
}

/** The block that is at an address at the picked moment, else the last one that was. */
function blockAt(state: State, address: number): number {
  const { blocks, groups } = state.story;
  let best = -1;
  for (let i = 0; i < blocks.group.length; i++) {
    if (address < blocks.address[i] || address >= blocks.address[i] + Math.max(blocks.bytes[i], 1)) continue;
    if (groups[blocks.group[i]] === undefined) continue;
    if (state.isAlive(i)) return i;
    if (best < 0 || blocks.born[i] > blocks.born[best]) best = i;
  }
  return best;
}
