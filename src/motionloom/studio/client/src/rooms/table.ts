// The table tab: transitions between all frames of the library, by recipes found in advance.

import { button, make, replace } from "../dom";
import type { Tools } from "../panel";
import type { Project, Store } from "../store";
import type { By, Place, Somewhere, TableCandidate, TableDetail } from "../table_messages";
import type { RoomModule } from "./room";
import "./table.css";
import { buildView } from "./table_parts/build";
import { labelView } from "./table_parts/label";
import { liveView } from "./table_parts/live";
import { matrixView } from "./table_parts/matrix";
import { TableModel } from "./table_parts/model";

type Wish = Project["table"];

const MODES: [Wish["mode"], string, string][] = [
  ["make", "Make", "a transition between two frames"],
  ["live", "Live", "a character that you steer with keys"],
  ["label", "Label", "rate transitions as natural or not"],
];
const BY: [By, string][] = [
  ["table", "by the table"],
  ["graph", "by the motion graph"],
  ["better", "by the better of both"],
];

let model: TableModel | null = null;

export const table: RoomModule = {
  name: "table",
  title: "Table",
  missing,
  inputs: (project) => {
    const { mode, rater, ...wish } = project.table;
    return mode === "label" ? ["label", model?.key, rater] : [model?.key, project.a, project.b, wish];
  },
  ask: (project, api, have) => {
    const { mode, label, by, search, variation, lead_s, follow_s, rater } = project.table;
    if (mode === "label") return api.ask("label.next", { rater, have });
    const target = label ? { label } : { target: placeOf(project, "b") };
    return api.ask("table.query", {
      source: placeOf(project, "a")!,
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

function missing(project: Project): string | null {
  const { mode, label, rater } = project.table;
  if (!model?.facts)
    return model?.job?.state === "running"
      ? "The table is being built."
      : "A table has transitions between all frames of these clips. Build it once.";
  if (mode === "label") return rater ? null : "Enter your name and rate transitions one by one.";
  if (!project.a) return "Pick a clip to leave from: it becomes A.";
  if (!model.clipOf(project.a)) return "A is not in this table: rebuild it, or pick another clip.";
  if (model.isShort(project.a)) return tooShort("A", project.a);
  if (mode === "live") return "The character plays from A. Click a goal, or press its number.";
  if (label) return null;
  if (!project.b) return "Pick a clip to arrive in: it becomes B. Or a label below.";
  if (!model.clipOf(project.b)) return "B is not in this table: rebuild it, or pick another clip.";
  return model.isShort(project.b) ? tooShort("B", project.b) : null;
}

function tooShort(slot: string, id: string): string {
  const seconds = (frames: number): string => `${(frames / model!.facts!.fps).toFixed(2)} s`;
  return `${slot} has ${seconds(model!.clipOf(id)!.frames)}, fewer than the ${seconds(model!.window)} of this table: pick a longer clip, or rebuild with fewer seconds.`;
}

// The frame of A to leave or of B to arrive at: those set by hand, else wherever it goes best.
function placeOf(project: Project, slot: "a" | "b"): Somewhere | null {
  const clip = model?.clipOf(project[slot]);
  if (!clip) return null;
  const chosen = slot === "a" ? project.table.from : project.table.to;
  return [clip.id, chosen === null ? null : Math.min(chosen, clip.frames - 1)];
}

function mount(within: HTMLElement, tools: Tools): void {
  const { store, clock } = tools;
  const own = new TableModel(tools);
  model = own;
  const change = (key: string, part: Partial<Wish>): void =>
    store.decide(key, { table: { ...store.project.table, ...part } });

  const modes = MODES.map(([name, text, title]) => button(text, title, () => change("", { mode: name }), "small"));
  const build = buildView(own);
  const matrix = matrixView(own, pick);
  const live = liveView(tools, own, () => {
    const place = placeOf(store.project, "a");
    return place && [place[0], place[1] ?? 0];
  });
  const label = labelView(tools, own);
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
  const found = make("div", { class: "found" });
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
    found,
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
    make("section", { class: "room-right" }, modeBar, build.element, making, live.element, label.element, build.notes),
  );

  // Clips by their library ids, frames as the table counts them.
  function pick(source: Place, target: Place): void {
    const [a, b] = [source, target].map(([clip]) => own.facts?.clips.find((each) => each.id === clip)?.clip ?? null);
    if (!a || !b) {
      store.fail("table", "These clips are in the table, but no longer in the library: rebuild it.");
      return;
    }
    store.decide("", {
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
        change: () => store.settle(),
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
        const clip = own.clipOf(store.project[slot]),
          place = placeOf(store.project, slot);
        element.hidden = !clip || (slot === "b" && store.project.table.label !== null);
        if (!clip || !place || !own.facts) return;
        // Left open: what the result has found.
        const detail = store.scene.made.table?.answer.detail;
        const taken = detail?.room === "table" ? (slot === "a" ? detail.source : detail.target) : null;
        const frame = place[1] ?? (taken?.[0] === clip.id ? taken[1] : 0);
        slide.max = String(clip.frames - 1);
        slide.value = String(frame);
        number.textContent = `${frame}  ${(frame / own.facts.fps).toFixed(2)} s`;
      },
    };
  }

  let listed = "";
  function draw(): void {
    const { project, scene } = store;
    const { mode, label: goal, variation } = project.table;
    if (project.room !== "table") {
      live.stop();
      return;
    }
    own.begin();
    modes.forEach((each, k) => {
      each.setAttribute("aria-pressed", String(MODES[k][0] === mode));
      each.hidden = !own.facts;
    });
    build.draw();
    const there = own.facts !== null;
    making.hidden = !there || mode !== "make";
    live.element.hidden = !there || mode !== "live";
    label.element.hidden = !there || mode !== "label";
    if (there && mode === "live" && own.clipOf(project.a) && !own.isShort(project.a)) live.start();
    else live.stop();
    live.draw();
    label.draw();
    frames.a.draw();
    frames.b.draw();
    const known = own.facts?.labels ?? [];
    const list = JSON.stringify(known);
    if (listed !== list) {
      listed = list;
      replace(
        labels,
        make("option", { attrs: { value: "" } }, "arrive in B"),
        ...known.map((name) => make("option", { attrs: { value: name } }, `at any ${name}`)),
      );
    }
    labels.hidden = !known.length;
    labels.value = goal ?? "";
    by.value = project.table.by;
    by.disabled = goal !== null;
    search.checked = project.table.search;
    best.disabled = variation === null;
    open.disabled = project.table.from === null && project.table.to === null;
    const detail = scene.made.table?.answer.detail;
    const now = detail?.room === "table" ? detail : null;
    matrix.draw(now, mode === "label"); // its scores would bias the rater
    replace(found, ...(now && mode === "make" ? foundRows(now) : []));
  }
  own.onChange(draw);
  store.listen((project, scene, before) => {
    if (
      project !== before.project ||
      scene.made !== before.scene.made ||
      scene.live !== before.scene.live ||
      scene.clips !== before.scene.clips
    )
      draw();
  });
}

// The frame of A or B that is on stage, as the table counts frames.
function frameNow(store: Store, time: number, slot: "a" | "b"): number | null {
  const id = store.project[slot];
  const clip = model?.clipOf(id);
  if (!clip || !id) return null;
  const made = store.scene.made.table;
  if (made) {
    const f = Math.min(Math.round(time * made.motion.fps), made.motion.frames - 1);
    const frame = made.sourceFrames[made.sources.length * f + (slot === "a" ? 0 : 1)];
    if (Number.isFinite(frame)) return Math.min(Math.max(Math.round(frame), 0), clip.frames - 1);
    return null;
  }
  const shown = store.scene.clips[id];
  // By parts of the clip: a header that lies about the rate does not matter then.
  return shown
    ? Math.round((Math.min(time * shown.fps, shown.frames - 1) / Math.max(shown.frames - 1, 1)) * (clip.frames - 1))
    : null;
}

function foundRows(detail: TableDetail): HTMLElement[] {
  const rows = detail.candidates ?? [];
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
          `: ${detail.path.why}.`,
        ),
      ]
    : [];
  return [
    ...against,
    make("h3", {}, `the best of ${detail.looked_at ?? rows.length} recipes`),
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

function candidateRow(each: TableCandidate): HTMLElement {
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
