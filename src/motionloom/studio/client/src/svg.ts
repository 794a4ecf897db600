// Drawings made of shapes; as in dom.ts, text is always text.

type Attributes = Record<string, string | number>;

export function shape<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

export function refill(within: Element, ...children: Node[]): void {
  within.replaceChildren(...children);
}
