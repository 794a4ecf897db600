// Labelling: one transition after the other, natural or not. Scores are not shown.

import { button, make } from "../../dom";
import type { Tools } from "../../panel";
import type { Made } from "../../store";
import type { Counts } from "../../table_messages";
import type { TableModel } from "./model";

export interface LabelView {
  element: HTMLElement;
  draw(): void;
}

export function labelView({ store, api }: Tools, model: TableModel): LabelView {
  const rater = make("input", {
    class: "rater",
    attrs: { type: "text", maxlength: "40", placeholder: "your name", "aria-label": "your name" },
    on: {
      change: () => store.decide("", { table: { ...store.project.table, rater: rater.value.trim() } }),
      keydown: (event) => {
        if (event.key === "Enter") rater.blur();
      },
    },
  });
  const yes = button("Natural (N)", "a person could have moved like this", () => void judge(true), "verdict");
  const no = button("Unnatural (U)", "no person moves like this", () => void judge(false), "verdict");
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
  let counts: Counts | null = null;
  let before: Made | null = null; // judged last

  function judging(): (Counts & { table: string; transition: string; number: number }) | null {
    const detail = store.scene.made.table?.answer.detail;
    return detail?.room === "table" ? (detail.judging ?? null) : null;
  }

  async function judge(natural: boolean): Promise<void> {
    const now = judging();
    if (!now || store.scene.busy) return;
    try {
      const { body } = await api.ask("label.save", {
        table: now.table,
        transition: now.transition,
        natural,
        rater: store.project.table.rater,
      });
      counts = body;
      before = store.scene.made.table ?? null;
      model.next();
      store.heal("label");
    } catch (error) {
      store.fail("label", error);
    }
  }

  function again(): void {
    if (before && !store.scene.busy) store.show({ made: { ...store.scene.made, table: before } });
  }

  async function fetchFile(): Promise<void> {
    const answer = await api.ask("label.file", {}).catch((error: unknown) => store.fail("label", error));
    if (!answer) return;
    const { body } = answer;
    const link = make("a", { attrs: { href: body.url, download: body.name } });
    document.body.append(link);
    link.click();
    link.remove();
  }

  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    const { room, table } = store.project;
    if (room !== "table" || table.mode !== "label" || event.ctrlKey || event.metaKey) return;
    if (on.closest("input:not([type=range]):not([type=checkbox]), textarea, select")) return;
    const key = event.key.toLowerCase();
    if (key === "n" || key === "u") void judge(key === "n");
    if (key === "b") again();
  });

  function draw(): void {
    const now = judging();
    if (document.activeElement !== rater) rater.value = store.project.table.rater;
    yes.disabled = no.disabled = !now;
    back.disabled = !before || before === store.scene.made.table;
    const known = counts ?? now;
    status.textContent = !store.project.table.rater
      ? "Enter your name; every rater gets the same transitions."
      : now && known
        ? `Transition ${now.number}. You rated ${known.judged}, ${known.natural} of them natural; ${known.all} ratings in all.`
        : "";
    command.textContent = model.facts?.evaluate ?? "";
    file.hidden = command.hidden = !known?.all;
  }
  return { element, draw };
}
