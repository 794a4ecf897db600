// The tour: one part of the page after the other, outlined and explained.

import { button, make } from "./dom";

const STEPS: [selector: string, title: string, text: string][] = [
  ["#library", "Library", "Pick a clip: it becomes A. Pick another: it becomes B. Drop your own files here."],
  [
    ".tabs",
    "Tabs",
    "Transition goes from A into B. Blend mixes clips. Splice puts a part of A on B. Table makes transitions between all frames of the library.",
  ],
  ["#stage", "Stage", "A, the result and B on one clock. Drag to orbit, use the wheel to zoom."],
  ["#settings", "Settings", "Change anything: the result follows at once, and undo goes back."],
  ["#why", "Quality", "Measured quality of the result, warnings, and the same run as a command and as Python."],
  [".export", "Export", "Save the result for Blender, Unreal, Unity and others, or as a picture or video."],
];

export function startTour(ended: () => void): void {
  let at = 0;
  const [title, text, count] = [make("h2"), make("p"), make("span", { class: "quiet" })];
  const back = button("Back", "the step before", () => go(-1), "small");
  const next = button("Next", "the next step", () => go(1), "small");
  const card = make(
    "aside",
    { class: "tour", attrs: { "aria-label": "tour" } },
    title,
    text,
    make(
      "div",
      { class: "row" },
      count,
      make("span", { class: "gap" }),
      back,
      next,
      button("End", "end the tour (Escape)", () => end(), "small"),
    ),
  );
  const frame = make("div", { class: "tour-frame", attrs: { "aria-hidden": "true" } });
  document.body.append(frame, card);

  function go(step: number): void {
    at += step;
    if (at >= STEPS.length) {
      end();
      return;
    }
    const [selector, name, words] = STEPS[at];
    [title.textContent, text.textContent, count.textContent] = [name, words, `${at + 1} of ${STEPS.length}`];
    back.disabled = at === 0;
    next.textContent = at === STEPS.length - 1 ? "Done" : "Next";
    place(document.querySelector(selector));
    next.focus();
  }

  // Next to its part, inside the window.
  function place(target: Element | null): void {
    const box = target?.getBoundingClientRect() ?? new DOMRect(0, 0, 0, 0);
    Object.assign(frame.style, {
      left: `${box.left}px`,
      top: `${box.top}px`,
      width: `${box.width}px`,
      height: `${box.height}px`,
    });
    const { width, height } = card.getBoundingClientRect();
    const left =
      box.right + width + 12 < innerWidth
        ? box.right + 12
        : box.left - width - 12 > 0
          ? box.left - width - 12
          : box.left + (box.width - width) / 2;
    const top = Math.min(Math.max(box.top + Math.min(12, box.height), 8), innerHeight - height - 8);
    Object.assign(card.style, { left: `${Math.min(Math.max(left, 8), innerWidth - width - 8)}px`, top: `${top}px` });
  }

  function press(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    end();
  }

  function end(): void {
    document.removeEventListener("keydown", press, true);
    frame.remove();
    card.remove();
    ended();
  }

  document.addEventListener("keydown", press, true);
  go(0);
}
