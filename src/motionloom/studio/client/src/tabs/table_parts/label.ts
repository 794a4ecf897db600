// Labelling: one transition after the other, natural or not. Scores are not shown.

import { button, download, make } from "../../dom";
import type { Rating } from "../../messages";
import type { Tools } from "../../tools";
import { changeTable, factsOf } from "./tables";

export interface LabelView {
  element: HTMLElement;
  draw(): void;
}

export function labelView(tools: Tools): LabelView {
  const { store, api } = tools;
  const rater = make("input", {
    class: "rater",
    attrs: { type: "text", maxlength: "40", placeholder: "your name", "aria-label": "your name" },
    on: {
      change: () => store.commit("", { table: { ...store.project.table, rater: rater.value.trim() } }),
      keydown: (event) => {
        if (event.key === "Enter") rater.blur();
      },
    },
  });
  const yes = button("Natural (N)", "a person could have moved like this", () => void rate(true), "verdict");
  const no = button("Unnatural (U)", "no person moves like this", () => void rate(false), "verdict");
  const back = button("the last one again (B)", "rate the last one again", () => again(), "small");
  const status = make("p", { class: "quiet" });
  const file = button("Download ratings", "the CSV that table evaluate reads", () => void fetchFile(), "small");
  const command = make("pre", {});
  const element = make(
    "div",
    { class: "label-panel" },
    make("div", { class: "row" }, rater, yes, no, back, file),
    status,
    make("section", { class: "code" }, command),
  );
  const scene = () => store.scene.table;

  function rating(): Rating | null {
    const detail = store.scene.results.table?.answer.detail;
    return detail?.tab === "table" ? detail.rating : null;
  }

  async function rate(natural: boolean): Promise<void> {
    const now = rating();
    if (!now || store.scene.busy) return;
    const { table, transition } = now;
    try {
      const { body } = await api.ask("label.save", { table, transition, natural, rater: store.project.table.rater });
      const lastRated = store.scene.results.table ?? null;
      changeTable(tools, { counts: body, lastRated, rated: scene().rated + 1 });
      store.clear("label");
    } catch (error) {
      store.fail("label", error);
    }
  }

  function again(): void {
    const { lastRated } = scene();
    if (lastRated && !store.scene.busy) store.show({ results: { ...store.scene.results, table: lastRated } });
  }

  async function fetchFile(): Promise<void> {
    const answer = await api.ask("label.file", {}).catch((error: unknown) => store.fail("label", error));
    if (!answer) return;
    const { body } = answer;
    download(body.url, body.name);
  }

  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    const { tab, table } = store.project;
    if (tab !== "table" || table.mode !== "label" || event.ctrlKey || event.metaKey) return;
    if (on.closest("input:not([type=range]):not([type=checkbox]), textarea, select")) return;
    const key = event.key.toLowerCase();
    if (key === "n" || key === "u") void rate(key === "n");
    if (key === "b") again();
  });

  function draw(): void {
    const now = rating();
    const { lastRated } = scene();
    if (document.activeElement !== rater) rater.value = store.project.table.rater;
    yes.disabled = no.disabled = !now;
    back.disabled = !lastRated || lastRated === store.scene.results.table;
    const counts = scene().counts ?? now?.counts ?? null;
    status.textContent = !store.project.table.rater
      ? "Enter your name; every rater gets the same transitions."
      : now && counts
        ? `Transition ${now.number}. You rated ${counts.rated}, ${counts.natural} of them natural; ${counts.all} ratings in all.`
        : "";
    command.textContent = factsOf(store)?.evaluate ?? "";
    file.hidden = command.hidden = !counts?.all;
  }
  return { element, draw };
}
