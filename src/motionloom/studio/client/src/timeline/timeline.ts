// The timeline as a panel: the result of the open tab on its clock, and edits of it.

import { button, make } from "../dom";
import { openClip } from "../library";
import { currentResult, nameOf, type Store, type TabResult } from "../store";
import { paletteOf } from "../theme";
import type { Mount } from "../tools";
import { bracketEdits, nudge, plantEdits } from "./edits";
import type { Content } from "./rows";
import { Sheet } from "./sheet";
import { createTransport } from "./transport";

const LONGER_S = 0.1;

export const mountTimeline: Mount = (within, tools) => {
  const { store, clock } = tools;
  const sheet = new Sheet(clock, paletteOf, "lanes");
  const transport = createTransport(clock, () => contentOf(store)?.motion ?? null);
  const hint = make("span", { class: "quiet hint" });
  const detected = button(
    "use detected plants",
    "remove the plants set by hand",
    () => store.commit("", { plants: {} }),
    "small",
  );
  within.append(
    make("div", { class: "bar" }, transport.element, make("span", { class: "gap" }), hint, detected),
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
    const result = currentResult(store);
    const content = contentOf(store);
    const bracket = result ? bracketEdits(store, result) : undefined;
    // A table has plants that were detected when it was built.
    const plants = content && store.project.tab !== "table" ? plantEdits(store) : undefined;
    sheet.show(content, { bracket, plants, release: () => store.endDrag(), pending: () => store.scene.busy !== null });
    sheet.canvas.dataset.result = String(result?.answer.result ?? "");
    hint.textContent = bracket
      ? "drag the bracket, its ends, the strips, the ends of plants"
      : plants
        ? "drag the ends of plants"
        : "";
    detected.hidden = !Object.keys(store.project.plants).length;
  }

  store.listen((project, scene, before) => {
    for (const id of new Set([project.a, project.b])) {
      // A clip whose plants were set by hand shows them: it is opened again.
      if (id && project.plants[id] !== before.project.plants[id]) void openClip(tools, id).catch(() => undefined);
    }
    if (
      scene.results !== before.scene.results ||
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
  const result = currentResult(store);
  const { a, b } = store.project;
  const alone = (a && store.scene.clips[a]) || (b && store.scene.clips[b]) || null;
  if (!result) return alone && { motion: alone, strips: null, bracket: null, cost: null };
  const { detail, sources } = result.answer;
  if (detail.tab !== "transition" && detail.tab !== "table")
    return { motion: result.motion, strips: null, bracket: null, cost: null };
  const [first, last] = detail.span;
  const named = detail.tab !== "table" || detail.rating === null;
  return {
    motion: result.motion,
    strips: [
      { text: named ? `A  ${nameOf(store, sources[0].clip)}` : "", colour: "amber", first: 0, last },
      {
        text: named ? `B  ${nameOf(store, sources[1].clip)}` : "",
        colour: "blue",
        first,
        last: result.motion.frames - 1,
      },
    ],
    bracket: { first, last },
    cost: detail.tab === "transition" ? costOf(result, detail.stride) : null,
  };
}

const costs = new WeakMap<TabResult, Float32Array>();

// How far A and B are apart while both play, from the grid that the tab shows as a map.
function costOf(result: TabResult, stride: number): Float32Array | null {
  const cached = costs.get(result);
  const grid = result.arrays.grid;
  if (cached || !grid) return cached ?? null;
  const [n, m] = grid.shape;
  const at = (i: number, j: number): number =>
    grid.values[Math.min(Math.round(i), n - 1) * m + Math.min(Math.round(j), m - 1)];
  const cost = new Float32Array(result.motion.frames);
  for (let f = 0; f < cost.length; f++) {
    const [i, j] = [result.sourceFrames[2 * f] / stride, result.sourceFrames[2 * f + 1] / stride];
    const [i0, j0] = [Math.floor(i), Math.floor(j)];
    const [u, v] = [i - i0, j - j0];
    cost[f] = Number.isFinite(i + j)
      ? (1 - u) * ((1 - v) * at(i0, j0) + v * at(i0, j0 + 1)) + u * ((1 - v) * at(i0 + 1, j0) + v * at(i0 + 1, j0 + 1))
      : NaN;
  }
  costs.set(result, cost);
  return cost;
}
