// Colours: those of the style sheet, for canvases too; dark and light as the system says, or as the reader does.

import type { State } from './state';

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const isDark = () => colour('scheme') === 'dark';

const kKinds: Record<string, string> = { '4 KB pages': 'normal', '2 MB pages': 'huge', '1 GB pages': 'giant' };
export const kindColour = (kind: string) => colour(kKinds[kind] ?? 'other');

/** The same name has the same colour everywhere, on every page. */
export function nameColour(name: string): string {
  let hash = 2166136261;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
  const [hue, tone] = [(hash >>> 0) % 360, ((hash >>> 9) % 3) * 5];
  return isDark() ? `hsl(${hue}, 32%, ${30 + tone}%)` : `hsl(${hue}, 48%, ${78 + tone}%)`;
}

const kKey = 'belay-theme';

export function addThemeButton(button: HTMLButtonElement, state: State): void {
  const root = document.documentElement;
  try {
    const kept = localStorage.getItem(kKey);
    if (kept === 'dark' || kept === 'light') root.dataset.theme = kept;
  } catch {
    // Pages from a disk may have no storage. Then the system's choice is the first one.
  }
  const show = () => {
    button.textContent = isDark() ? 'Light' : 'Dark';
    button.setAttribute('aria-label', isDark() ? 'Show the page in light colours' : 'Show the page in dark colours');
  };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    try {
      localStorage.setItem(kKey, root.dataset.theme);
    } catch {
      // as above
    }
    show();
    state.changedTheme();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    show();
    state.changedTheme();
  });
  show();
}
