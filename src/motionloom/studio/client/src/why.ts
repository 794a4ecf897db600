// Why: the figures of the result, what was noticed, and the same run outside the studio.

import { button, make, replace } from "./dom";
import type { Verdict, WhyRow } from "./messages";
import type { Mount } from "./panel";
import { madeNow } from "./store";

const WORDS: Record<Verdict, string> = { good: "good", fair: "fair", bad: "look closer", plain: "" };
const SIGNS: Record<Verdict, string> = { good: "●", fair: "◐", bad: "▲", plain: "" }; // shape says it, too

export const mountWhy: Mount = (within, { store }) => {
  const told = make("div", { class: "why-body" });
  within.append(make("h2", {}, "Why"), told);

  function draw(): void {
    const made = madeNow(store);
    const { fault, busy } = store.scene;
    const state = busy ? make("p", { class: "busy" }, busy) : null;
    const wrong = fault ? make("p", { class: "warning", attrs: { role: "alert" } }, fault) : null;
    if (!made) {
      replace(told, state, wrong, busy || fault ? null : make("p", { class: "quiet" }, "What was made, and how good it is, is told here."));
      return;
    }
    const { why } = made.answer;
    replace(
      told, state, wrong,
      make("p", { class: `headline ${why.verdict}` }, make("strong", {}, `${SIGNS[why.verdict]} ${WORDS[why.verdict]}`), make("span", {}, why.headline)),
      make("table", { class: "figures" }, make("tbody", {}, ...why.rows.map(rowOf))),
      ...why.warnings.map((text) => make("p", { class: "warning" }, text)),
      ...why.notes.map((text) => make("p", { class: "note" }, text)),
      code("command line", why.command),
      code("Python", why.python),
    );
  }

  store.listen((project, scene, before) => {
    if (scene.made !== before.scene.made || scene.busy !== before.scene.busy || scene.fault !== before.scene.fault ||
      project.room !== before.project.room) draw();
  });
  draw();
};

function rowOf(row: WhyRow): HTMLElement {
  const value = row.value === null ? "none" : `${figure(row.value)} ${row.unit}`;
  const before = row.before === null ? null : make("span", { class: "before" }, `${figure(row.before)} → `);
  return make("tr", { class: row.verdict, title: row.about },
    make("th", { class: row.label.startsWith(" ") ? "part" : "" }, row.label.trim()),
    make("td", {}, before, make("span", { class: "value" }, value)),
    make("td", { class: "sign" }, SIGNS[row.verdict]));
}

function figure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function code(title: string, text: string): HTMLElement {
  const copy = button("copy", `copy the ${title}`, () => {
    void navigator.clipboard.writeText(text).then(() => { copy.textContent = "copied"; });
    setTimeout(() => { copy.textContent = "copy"; }, 1500);
  }, "small");
  return make("section", { class: "code" }, make("header", {}, make("h3", {}, title), copy), make("pre", {}, make("code", {}, text)));
}
