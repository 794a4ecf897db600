// Creates elements. Text is always text, so that no name of a file or joint can become markup.

type Child = Node | string | null;
type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };

interface Options {
  class?: string;
  title?: string;
  on?: Listeners;
  attrs?: Record<string, string>;
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Options = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (options.class) element.className = options.class;
  if (options.title) element.title = options.title;
  for (const [name, value] of Object.entries(options.attrs ?? {})) element.setAttribute(name, value);
  for (const [name, listener] of Object.entries(options.on ?? {})) {
    element.addEventListener(name, listener as EventListener);
  }
  element.append(...children.filter((child): child is Node | string => child !== null));
  return element;
}

export function button(text: string, title: string, press: () => void, kind = ""): HTMLButtonElement {
  return make("button", { class: kind, title, on: { click: press }, attrs: { type: "button" } }, text);
}

export function replace(within: HTMLElement, ...children: Child[]): void {
  within.replaceChildren(...children.filter((child): child is Node | string => child !== null));
}

export interface Checkbox {
  label: HTMLLabelElement;
  box: HTMLInputElement;
}

export function checkbox(text: string, title: string, changed: () => void): Checkbox {
  const box = make("input", { attrs: { type: "checkbox" }, on: { change: changed } });
  return { label: make("label", { class: "tick", title }, box, text), box };
}

// Have the browser save what is at an address.
export function download(url: string, name: string): void {
  const link = make("a", { attrs: { href: url, download: name } });
  document.body.append(link);
  link.click();
  link.remove();
}
