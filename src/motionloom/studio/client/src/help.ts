// The list of keys, on `?`: a card over the page that lets everything behind it go on.

import { button, make } from "./dom";

const KEYS: [string, string][] = [
  ["space", "play or pause"],
  ["← →", "one frame back or on; ↑ ↓ ten"],
  ["J K L", "run back, stop, run on; again for faster"],
  ["home end", "to the ends of the loop range"],
  ["[ ]", "the blend one frame earlier or later; with shift shorter or longer"],
  ["1 2 3 4", "Transition, Blend, Splice, Table"],
  ["1 to 9", "in the table's Live: to a label or a clip"],
  ["N U B", "in the table's Label: natural, unnatural, the last again"],
  ["E", "export"],
  ["ctrl Z", "undo; with shift redo"],
  ["?", "this list"],
  ["stage", "drag orbits, shift-drag slides, the wheel zooms"],
  ["ruler", "drag sets the loop range, double click forgets it"],
  ["bracket", "drag it, its ends, or a strip beside it"],
  ["lanes", "drag the ends of a plant; double click takes one away or puts one down"],
];

export function mountHelp(): void {
  const rows = KEYS.flatMap(([key, does]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, does)]);
  const card = make("aside", { class: "help", attrs: { "aria-label": "keys" } },
    make("h2", {}, "Keys and hands"), make("dl", {}, ...rows), button("close", "close the list (Escape)", () => { card.hidden = true; }, "small"));
  card.hidden = true;
  document.body.append(card);
  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (event.key === "Escape") card.hidden = true;
    if (event.key !== "?" || on.closest("input:not([type=range]):not([type=checkbox]), textarea")) return;
    event.preventDefault();
    card.hidden = !card.hidden;
  });
}
