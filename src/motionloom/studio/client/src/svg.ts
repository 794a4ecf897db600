// Creates shapes of drawings; as in dom.ts, text is always text.

type Attributes = Record<string, string | number>;

export function shape<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function refill(within: Element, ...children: Node[]): void {
  within.replaceChildren(...children);
}
