// Help: a "?" button, the list of keys, and a short tour. The page behind it stays usable.

import { button, make } from "./dom";
import { startTour } from "./tour";

const KEYS: [string, string][] = [
  ["space", "play or pause"],
  ["← →", "one frame back or forward; ↑ ↓ ten"],
  ["J K L", "play backward, stop, play forward; again for faster"],
  ["home end", "first and last frame of the loop range"],
  ["[ ]", "move the blend by one frame; with shift shorter or longer"],
  ["1 2 3 4", "Transition, Blend, Splice, Table"],
  ["1 to 9", "in Table, Live: go to a label or a clip"],
  ["N U B", "in Table, Label: natural, unnatural, the last one again"],
  ["↑ ↓ A B", "in the library: another clip; use it as A or B"],
  ["E", "export"],
  ["ctrl Z", "undo; with shift redo"],
  ["escape", "close a message or this list"],
  ["stage", "drag to orbit, shift-drag to pan, wheel to zoom"],
  ["ruler", "drag to set the loop range, double click to remove it"],
  ["bracket", "drag it, its ends, or a strip next to it"],
  ["lanes", "drag the ends of a footplant; double click removes or adds one"],
];

export function createHelp(): HTMLButtonElement {
  const rows = KEYS.flatMap(([key, does]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, does)]);
  const close = button("Close", "close the list (Escape)", () => show(false), "small");
  const tour = button(
    "Show me around",
    "a tour of the page in six steps",
    () => {
      show(false);
      startTour(() => open.focus());
    },
    "primary",
  );
  const card = make(
    "aside",
    { class: "help", attrs: { "aria-label": "help" } },
    make("h2", {}, "Keys and mouse"),
    make("dl", {}, ...rows),
    make("div", { class: "row" }, tour, close),
  );
  card.hidden = true;
  const open = button("?", "help: keys, mouse and a tour (?)", () => show(card.hidden), "icon help-open");
  open.setAttribute("aria-label", "help");
  open.setAttribute("aria-expanded", "false");

  function show(shown: boolean): void {
    card.hidden = !shown;
    open.setAttribute("aria-expanded", String(shown));
    if (shown) tour.focus();
    else open.focus();
  }

  document.body.append(card);
  document.addEventListener(
    "keydown",
    (event) => {
      const on = event.target as HTMLElement;
      if (event.key === "Escape" && !card.hidden) {
        event.preventDefault(); // one Escape closes one thing
        show(false);
      }
      if (event.key !== "?" || on.closest("input:not([type=range]):not([type=checkbox]), textarea")) return;
      event.preventDefault();
      show(card.hidden);
    },
    true,
  );
  return open;
}
