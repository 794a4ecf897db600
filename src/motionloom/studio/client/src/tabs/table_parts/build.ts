// Building a table: a form, the progress of the build, and a way to stop it.

import { button, make, replace } from "../../dom";
import type { Store } from "../../store";
import type { Tables } from "./tables";

export interface BuildView {
  bar: HTMLElement;
  element: HTMLElement;
  notes: HTMLElement;
  draw(): void;
}

const FIRST_LENGTH_S = 1.0;

export function buildView(store: Store, tables: Tables): BuildView {
  const clusters = number("clusters", null, 2, 200, 1);
  clusters.box.title = "empty: one for every 4 seconds of clips, 12 to 50";
  const length = number("seconds", FIRST_LENGTH_S, 0.2, 3, 0.1);
  const go = button(
    "Build the table",
    "builds in the background; the page stays usable",
    () => {
      wanted = false;
      tables.build(Number(clusters.box.value) || null, Number(length.box.value));
    },
    "primary build",
  );
  const stop = button("stop", "stop the build; the next one continues from there", () => tables.cancel(), "small");
  const again = button(
    "rebuild",
    "with other settings, or after clips changed",
    () => {
      wanted = !wanted;
      draw();
    },
    "small",
  );
  const others = make("select", { attrs: { "aria-label": "table" }, on: { change: () => tables.open(others.value) } });
  const facts = make("span", { class: "quiet table-facts" });
  const fill = make("div", { class: "progress-fill" });
  const progress = make(
    "div",
    {
      class: "progress",
      attrs: { role: "progressbar", "aria-label": "build of the table", "aria-valuemin": "0", "aria-valuemax": "100" },
    },
    fill,
  );
  const status = make("p", { class: "quiet build-status" });
  // Long notes are folded: they must not push the controls out of sight.
  const [count, notes] = [make("summary"), make("div")];
  const more = make("details", { class: "build-notes quiet" }, count, notes);
  const form = make("div", { class: "row" }, clusters.label, length.label, go);
  const running = make("div", { class: "row" }, progress, stop);
  const element = make("div", { class: "build-panel" }, form, running, status);
  const bar = make("div", { class: "row tight" }, facts, others, again);
  let wanted = false;
  let listed = "";

  function draw(): void {
    const { job = null, table = null, tables: names = [] } = store.scene.table.report ?? {};
    const busy = job?.state === "running";
    form.hidden = busy || (table !== null && !wanted);
    running.hidden = !busy;
    again.hidden = !table || busy;
    others.hidden = names.length < 2;
    const list = JSON.stringify([names, table?.id]);
    if (list !== listed) {
      listed = list;
      replace(others, ...names.map((name) => make("option", { attrs: { value: name } }, name)));
      others.value = table?.id ?? "";
    }
    facts.textContent = table ? `${table.clips.length} clips, ${table.clusters} clusters, ${table.length_s} s` : "";
    facts.title = table?.build ?? "";
    const percent = Math.round(100 * (job?.part ?? 0));
    fill.style.width = `${percent}%`;
    progress.setAttribute("aria-valuenow", String(percent));
    status.textContent = !job
      ? ""
      : busy
        ? `${job.stage}: ${percent} %${job.left_s === null ? "" : `, about ${time(job.left_s)} left`}; ${time(job.elapsed_s)} so far`
        : job.state === "failed"
          ? job.error
          : job.state === "stopped" && !table
            ? "Stopped. The next build continues from there."
            : "";
    status.hidden = !status.textContent;
    const warnings = !busy && job && table && !wanted ? job.warnings : [];
    more.hidden = !warnings.length;
    count.textContent = warnings.length === 1 ? "1 note about the build" : `${warnings.length} notes about the build`;
    if (notes.dataset.text !== warnings.join("\n")) {
      notes.dataset.text = warnings.join("\n");
      replace(notes, ...warnings.map((text) => make("p", {}, text)));
    }
    element.hidden = form.hidden && running.hidden && status.hidden;
  }
  return { bar, element, notes: more, draw };
}

function time(seconds: number): string {
  return seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`;
}

function number(
  text: string,
  value: number | null,
  min: number,
  max: number,
  step: number,
): { label: HTMLElement; box: HTMLInputElement } {
  const box = make("input", {
    class: "number",
    attrs: {
      type: "number",
      value: value === null ? "" : String(value),
      placeholder: value === null ? "auto" : "",
      min: String(min),
      max: String(max),
      step: String(step),
      "aria-label": text,
    },
  });
  return { label: make("label", { class: "tick" }, text, box), box };
}
