// The timeline as a panel: what the room in front made, on its clock, with hands to change it.

import { button, make } from "../dom";
import { openClip } from "../library";
import type { Mount } from "../panel";
import { type Made, madeNow, nameOf, type Store } from "../store";
import { paletteOf } from "../theme";
import { bracketHands, nudge, plantHands } from "./edits";
import type { Content } from "./rows";
import { Sheet } from "./sheet";
import { createTransport } from "./transport";

const LONGER_S = 0.1;

export const mountTimeline: Mount = (within, tools) => {
  const { store, clock } = tools;
  const sheet = new Sheet(clock, paletteOf, "lanes");
  const transport = createTransport(clock, () => contentOf(store)?.motion ?? null);
  const hint = make("span", { class: "quiet hint" });
  const found = button(
    "plants as found",
    "forget the plants set by hand",
    () => store.decide("", { plants: {} }),
    "small",
  );
  within.append(
    make("div", { class: "bar" }, transport.element, make("span", { class: "gap" }), hint, found),
    sheet.element,
  );

  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (on.closest("input:not([type=checkbox]), select, textarea") || event.ctrlKey || event.metaKey || event.altKey)
      return;
    // A pressed space is for the button that has the focus, if one was reached by the tab key.
    if (event.key === " " && on.matches("button:focus-visible")) return;
    const bracket: Record<string, () => void> = {
      "[": () => nudge(store, -1, 0),
      "]": () => nudge(store, 1, 0),
      "{": () => nudge(store, 0, -LONGER_S),
      "}": () => nudge(store, 0, LONGER_S),
    };
    bracket[event.key]?.();
    if (bracket[event.key] || transport.press(event.key)) event.preventDefault();
  });

  function show(): void {
    const made = madeNow(store);
    const content = contentOf(store);
    const bracket = made ? bracketHands(store, made) : undefined;
    // A table has its own plants, found when it was built.
    const plants = content && store.project.room !== "table" ? plantHands(store) : undefined;
    sheet.show(content, { bracket, plants, release: () => store.settle(), pending: () => store.scene.busy !== null });
    sheet.canvas.dataset.result = String(made?.answer.result ?? "");
    hint.textContent = bracket
      ? "drag the bracket, its ends, the strips, the ends of plants"
      : plants
        ? "drag the ends of plants"
        : "";
    found.hidden = !Object.keys(store.project.plants).length;
  }

  store.listen((project, scene, before) => {
    for (const id of new Set([project.a, project.b])) {
      // A clip whose plants were set by hand shows them: it is opened again.
      if (id && project.plants[id] !== before.project.plants[id]) void openClip(tools, id).catch(() => undefined);
    }
    if (
      scene.made !== before.scene.made ||
      scene.clips !== before.scene.clips ||
      scene.live !== before.scene.live ||
      project !== before.project
    )
      show();
  });
  show();
};

function contentOf(store: Store): Content | null {
  if (store.scene.live) return null; // it has one frame, and no end
  const made = madeNow(store);
  const { a, b } = store.project;
  const alone = (a && store.scene.clips[a]) || (b && store.scene.clips[b]) || null;
  if (!made) return alone && { motion: alone, strips: null, bracket: null, cost: null };
  const { detail, sources } = made.answer;
  if (detail.room !== "transition" && detail.room !== "table")
    return { motion: made.motion, strips: null, bracket: null, cost: null };
  const [first, last] = detail.span;
  const named = detail.room !== "table" || detail.judging === undefined;
  return {
    motion: made.motion,
    strips: [
      { text: named ? `A  ${nameOf(store, sources[0].clip)}` : "", colour: "amber", first: 0, last },
      {
        text: named ? `B  ${nameOf(store, sources[1].clip)}` : "",
        colour: "blue",
        first,
        last: made.motion.frames - 1,
      },
    ],
    bracket: { first, last },
    cost: detail.room === "transition" ? costOf(made, detail.stride) : null,
  };
}

const kept = new WeakMap<Made, Float32Array>();

// How far A and B are apart while both run on, from the grid that the room shows as a map.
function costOf(made: Made, stride: number): Float32Array | null {
  const known = kept.get(made);
  const grid = made.arrays.grid;
  if (known || !grid) return known ?? null;
  const [n, m] = grid.shape;
  const at = (i: number, j: number): number =>
    grid.values[Math.min(Math.round(i), n - 1) * m + Math.min(Math.round(j), m - 1)];
  const cost = new Float32Array(made.motion.frames);
  for (let f = 0; f < cost.length; f++) {
    const [i, j] = [made.sourceFrames[2 * f] / stride, made.sourceFrames[2 * f + 1] / stride];
    const [i0, j0] = [Math.floor(i), Math.floor(j)];
    const [u, v] = [i - i0, j - j0];
    cost[f] = Number.isFinite(i + j)
      ? (1 - u) * ((1 - v) * at(i0, j0) + v * at(i0, j0 + 1)) + u * ((1 - v) * at(i0 + 1, j0) + v * at(i0 + 1, j0 + 1))
      : NaN;
  }
  kept.set(made, cost);
  return cost;
}
