// Elements, made in one expression. Text is always text: names of a program never become markup.

type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean | ((event: never) => void)>;

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child !== null) element.append(child);
  return element;
}

export function place(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no place '${id}'`);
  return element;
}

/** A canvas as sharp as the screen, which is painted again when its place changes its size. */
export class Sheet {
  readonly canvas = make('canvas');
  readonly pen = this.canvas.getContext('2d')!;
  width = 0;
  height = 0;

  constructor(parent: HTMLElement, private readonly paint: (sheet: Sheet) => void) {
    parent.append(this.canvas);
    new ResizeObserver(() => this.draw()).observe(parent);
    matchMedia('print').addEventListener('change', () => this.draw());
  }

  resize(height: number): void {
    this.height = height;
    this.canvas.style.height = `${height}px`;
  }

  draw(): void {
    const sharp = window.devicePixelRatio || 1;
    this.width = this.canvas.parentElement!.clientWidth;
    if (this.width === 0) return;
    this.canvas.width = Math.round(this.width * sharp);
    this.canvas.height = Math.round(this.height * sharp);
    this.pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    this.pen.clearRect(0, 0, this.width, this.height);
    this.paint(this);
  }
}

export function mouse(event: MouseEvent): [x: number, y: number] {
  const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
