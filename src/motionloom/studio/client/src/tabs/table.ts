// The table tab: transitions between all frames of the library, by recipes that were computed in advance.

import { button, make, replace } from "../dom";
import type { Maker, OpenPlace, Place, RecipeFigures, TableDetail } from "../messages";
import type { Project, State, Store } from "../store";
import type { Tools } from "../tools";
import type { TabModule } from "./tab";
import { buildView } from "./table_parts/build";
import { labelView } from "./table_parts/label";
import { liveView } from "./table_parts/live_character";
import { matrixView } from "./table_parts/matrix";
import { clipIn, createTables, factsOf, isShort, tableKey, windowOf } from "./table_parts/tables";

type Settings = Project["table"];

const MODES: [Settings["mode"], string, string][] = [
  ["make", "Make", "a transition between two frames"],
  ["live", "Live", "a character that you steer with keys"],
  ["label", "Label", "rate transitions as natural or not"],
];
const BY: [Maker, string][] = [
  ["table", "by the table"],
  ["graph", "by the motion graph"],
  ["better", "by the better of both"],
];

export const table: TabModule = {
  name: "table",
  title: "Table",
  missing,
  inputs: (state) => {
    const { a, b, table: chosen } = state.project;
    const { mode, rater, ...settings } = chosen;
    return mode === "label" ? ["label", tableKey(state), rater] : [tableKey(state), a, b, settings];
  },
  ask: (state, api, have) => {
    const { mode, label, by, search, variation, lead_s, follow_s, rater } = state.project.table;
    if (mode === "label") return api.ask("label.next", { rater, have });
    const target = label ? { label } : { target: placeOf(state, "b") };
    return api.ask("table.query", {
      source: placeOf(state, "a")!,
      ...target,
      by: label ? "table" : by,
      search,
      variation,
      lead_s,
      follow_s,
      have,
    });
  },
  mount,
};

function missing(state: State): string | null {
  const { a, b, table: settings } = state.project;
  if (!factsOf(state))
    return state.scene.table.report?.job?.state === "running"
      ? "The table is being built."
      : "A table has transitions between all frames of these clips. Build it once.";
  if (settings.mode === "label") return settings.rater ? null : "Enter your name and rate transitions one by one.";
  if (!a) return "Pick a clip to leave from: it becomes A.";
  if (!clipIn(state, a)) return "A is not in this table: rebuild it, or pick another clip.";
  if (isShort(state, a)) return tooShort(state, "A", a);
  if (settings.mode === "live") return "The character plays from A. Click a goal, or press its number.";
  if (settings.label) return null;
  if (!b) return "Pick a clip to arrive in: it becomes B. Or a label below.";
  if (!clipIn(state, b)) return "B is not in this table: rebuild it, or pick another clip.";
  return isShort(state, b) ? tooShort(state, "B", b) : null;
}

function tooShort(state: State, slot: string, id: string): string {
  const seconds = (frames: number): string => `${(frames / factsOf(state)!.fps).toFixed(2)} s`;
  return `${slot} has ${seconds(clipIn(state, id)!.frames)}, less than the ${seconds(windowOf(state))} of this table: pick a longer clip, or rebuild with fewer seconds.`;
}

// The frame of A to leave or of B to arrive at: the one set by hand, else null for the best.
function placeOf(state: State, slot: "a" | "b"): OpenPlace | null {
  const clip = clipIn(state, state.project[slot]);
  if (!clip) return null;
  const { from, to } = state.project.table;
  const chosen = slot === "a" ? from : to;
  return [clip.id, chosen === null ? null : Math.min(chosen, clip.frames - 1)];
}

function mount(within: HTMLElement, tools: Tools): void {
  const { store, clock } = tools;
  const tables = createTables(tools);
  const change = (key: string, part: Partial<Settings>): void =>
    store.commit(key, { table: { ...store.project.table, ...part } });

  const modes = MODES.map(([name, text, title]) => button(text, title, () => change("", { mode: name }), "small"));
  const build = buildView(store, tables);
  const matrix = matrixView(store, pick);
  const live = liveView(tools, () => {
    const place = placeOf(store, "a");
    return place && [place[0], place[1] ?? 0];
  });
  const label = labelView(tools);
  const frames = { a: frameRow("a", "leave A at"), b: frameRow("b", "arrive in B at") };
  const labels = make("select", {
    attrs: { "aria-label": "arrive at" },
    on: { change: () => change("", { label: labels.value || null }) },
  });
  const by = make(
    "select",
    { attrs: { "aria-label": "made by" }, on: { change: () => change("", { by: BY[by.selectedIndex][0] }) } },
    ...BY.map(([name, text]) => make("option", { attrs: { value: name } }, text)),
  );
  const search = make("input", {
    attrs: { type: "checkbox" },
    on: { change: () => change("", { search: search.checked }) },
  });
  const other = button(
    "another",
    "another variation of this transition",
    () => change("", { variation: (store.project.table.variation ?? 0) + 1 }),
    "small",
  );
  const best = button("the best", "back to the best", () => change("", { variation: null }), "small");
  const open = button(
    "best frames",
    "use the frames where the clips match best",
    () => change("", { from: null, to: null }),
    "small",
  );
  const recipes = make("div", { class: "recipes" });
  const making = make(
    "div",
    { class: "making-panel" },
    frames.a.element,
    frames.b.element,
    make(
      "div",
      { class: "row" },
      labels,
      by,
      make("label", { class: "tick" }, search, "try all recipes"),
      other,
      best,
      open,
    ),
    recipes,
  );
  const modeBar = make(
    "div",
    { class: "row tight", attrs: { role: "group", "aria-label": "what to do" } },
    ...modes,
    make("span", { class: "gap" }),
    build.bar,
  );
  within.append(
    matrix.element,
    make("section", { class: "panel-right" }, modeBar, build.element, making, live.element, label.element, build.notes),
  );

  // Clips by their library ids, frames as the table counts them.
  function pick(source: Place, target: Place): void {
    const [a, b] = [source, target].map(
      ([clip]) => factsOf(store)?.clips.find((each) => each.id === clip)?.clip ?? null,
    );
    if (!a || !b) {
      store.fail("table", "These clips are in the table, but no longer in the library: rebuild it.");
      return;
    }
    store.commit("", {
      a,
      b,
      table: { ...store.project.table, mode: "make", from: source[1], to: target[1], label: null },
    });
  }

  function frameRow(slot: "a" | "b", text: string): { element: HTMLElement; draw(): void } {
    const name = slot === "a" ? "from" : "to";
    const slide = make("input", {
      attrs: { type: "range", min: "0", step: "1", "aria-label": text },
      on: {
        input: () => change(name, { [name]: Number(slide.value) }),
        change: () => store.endDrag(),
      },
    });
    const number = make("output", { class: "frame-number" });
    const here = button(
      "now",
      "use the frame that the stage shows",
      () => {
        const frame = frameNow(store, clock.time, slot);
        if (frame !== null) change("", { [name]: frame });
      },
      "small",
    );
    const element = make(
      "div",
      { class: "row tight frame-row" },
      make("span", { class: `slot-name ${slot}` }, text),
      slide,
      number,
      here,
    );
    return {
      element,
      draw: () => {
        const [clip, place, facts] = [clipIn(store, store.project[slot]), placeOf(store, slot), factsOf(store)];
        element.hidden = !clip || (slot === "b" && store.project.table.label !== null);
        if (!clip || !place || !facts) return;
        // Left open: the frame of the result.
        const detail = store.scene.results.table?.answer.detail;
        const taken = detail?.tab === "table" ? (slot === "a" ? detail.source : detail.target) : null;
        const frame = place[1] ?? (taken?.[0] === clip.id ? taken[1] : 0);
        slide.max = String(clip.frames - 1);
        slide.value = String(frame);
        number.textContent = `${frame}  ${(frame / facts.fps).toFixed(2)} s`;
      },
    };
  }

  let listed = "";
  function draw(): void {
    const { project, scene } = store;
    const { mode, label: goal, variation } = project.table;
    if (project.tab !== "table") {
      live.stop();
      return;
    }
    tables.begin();
    const facts = factsOf(store);
    modes.forEach((each, k) => {
      each.setAttribute("aria-pressed", String(MODES[k][0] === mode));
      each.hidden = !facts;
    });
    build.draw();
    making.hidden = !facts || mode !== "make";
    live.element.hidden = !facts || mode !== "live";
    label.element.hidden = !facts || mode !== "label";
    if (facts && mode === "live" && clipIn(store, project.a) && !isShort(store, project.a)) live.start();
    else live.stop();
    live.draw();
    label.draw();
    frames.a.draw();
    frames.b.draw();
    const names = facts?.labels ?? [];
    const list = JSON.stringify(names);
    if (listed !== list) {
      listed = list;
      replace(
        labels,
        make("option", { attrs: { value: "" } }, "arrive in B"),
        ...names.map((name) => make("option", { attrs: { value: name } }, `at any ${name}`)),
      );
    }
    labels.hidden = !names.length;
    labels.value = goal ?? "";
    by.value = project.table.by;
    by.disabled = goal !== null;
    search.checked = project.table.search;
    best.disabled = variation === null;
    open.disabled = project.table.from === null && project.table.to === null;
    const detail = scene.results.table?.answer.detail;
    const now = detail?.tab === "table" ? detail : null;
    matrix.draw(now, mode === "label"); // its scores would bias the rater
    replace(recipes, ...(now && mode === "make" ? recipeRows(now) : []));
  }
  store.listen((project, scene, before) => {
    if (
      project !== before.project ||
      scene.results !== before.scene.results ||
      scene.table !== before.scene.table ||
      scene.live !== before.scene.live ||
      scene.clips !== before.scene.clips
    )
      draw();
  });
}

// The frame of A or B that is on stage, as the table counts frames.
function frameNow(store: Store, time: number, slot: "a" | "b"): number | null {
  const id = store.project[slot];
  const clip = clipIn(store, id);
  if (!clip || !id) return null;
  const result = store.scene.results.table;
  if (result) {
    const f = Math.min(Math.round(time * result.motion.fps), result.motion.frames - 1);
    const frame = result.sourceFrames[result.sources.length * f + (slot === "a" ? 0 : 1)];
    if (Number.isFinite(frame)) return Math.min(Math.max(Math.round(frame), 0), clip.frames - 1);
    return null;
  }
  const shown = store.scene.clips[id];
  // As a part of the clip, so that a wrong rate in its header does not matter.
  return shown
    ? Math.round((Math.min(time * shown.fps, shown.frames - 1) / Math.max(shown.frames - 1, 1)) * (clip.frames - 1))
    : null;
}

function recipeRows(detail: TableDetail): HTMLElement[] {
  const rows = detail.candidates;
  const against = detail.path
    ? [
        make(
          "p",
          { class: "against" },
          make(
            "strong",
            {},
            { graph: "The graph is better", table: "The table is better", neither: "Neither is good" }[
              detail.path.chosen
            ],
          ),
          `: ${detail.path.why}`,
        ),
      ]
    : [];
  return [
    ...against,
    make("h3", {}, `the best of ${detail.looked_at} recipes`),
    make(
      "table",
      { class: "candidates" },
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          ...["natural", "cost", "feet", "balance", "postures", "windows"].map((word) => make("th", {}, word)),
        ),
      ),
      make("tbody", {}, ...rows.map(candidateRow)),
    ),
  ];
}

function candidateRow(each: RecipeFigures): HTMLElement {
  const cells = [
    `${(100 * each.natural).toFixed(0)} %`,
    each.cost.toFixed(2),
    ...[each.feet_cm, each.balance_cm, each.spread_cm].map((cm) => `${cm.toFixed(1)} cm`),
    each.windows.join(" › "),
  ];
  return make(
    "tr",
    { class: each.taken ? "taken" : "", title: each.taken ? "this one was made" : "" },
    ...cells.map((text) => make("td", {}, text)),
  );
}
