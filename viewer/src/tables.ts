// The tables that stand in the page: their rows can be sorted, and follow the search. A row that names a moment leads to it.

import type { State } from './state';

export function addTables(state: State): void {
  for (const table of document.querySelectorAll<HTMLTableElement>('table.told-all')) {
    table.querySelectorAll<HTMLTableCellElement>('thead th').forEach((head, column) => {
      head.tabIndex = 0;
      head.title = 'Sort by this column';
      const sort = () => sortBy(table, head, column);
      head.addEventListener('click', sort);
      head.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          sort();
        }
      });
    });
  }
  for (const row of document.querySelectorAll<HTMLElement>('[data-moment]')) {
    row.addEventListener('click', () => {
      if (row.dataset.series) state.pickSeries(Number(row.dataset.series));
      state.pickMoment(Number(row.dataset.moment));
      document.getElementById('when')?.scrollIntoView({ behavior: 'smooth' });
    });
  }
  state.on(['search'], () => {
    for (const row of document.querySelectorAll<HTMLElement>('table.told-all tbody tr')) {
      row.hidden = state.search !== '' && !row.textContent!.toLowerCase().includes(state.search);
    }
  });
}

function sortBy(table: HTMLTableElement, head: HTMLTableCellElement, column: number): void {
  const down = head.getAttribute('aria-sort') !== 'descending';
  for (const each of table.querySelectorAll('th')) each.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
  const value = (row: HTMLTableRowElement) => row.cells[column]?.textContent ?? '';
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const figures = rows.every((row) => /^-?\d+(\.\d+)?( |$)/.test(value(row)));
  rows.sort((a, b) => (figures ? parseFloat(value(a)) - parseFloat(value(b)) : value(a).localeCompare(value(b))) * (down ? -1 : 1));
  body.append(...rows);
}
