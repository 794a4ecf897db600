// The splice tab: a part of A on the rest of B, chosen on a figure, by one of four methods.

import { button, checkbox, make } from "../dom";
import type { Method } from "../messages";
import type { Project, TabResult } from "../store";
import type { Tools } from "../tools";
import { createFigure, WHERES } from "./figure";
import type { TabModule } from "./tab";

const METHODS: [Method, string][] = [
  ["naive", "joints copied, frame by frame"],
  ["time", "in step with the legs"],
  ["time+space", "also moves with their sway"],
  ["full", "also keeps its posture"],
];
const TRUNKS = ["torso", "chest"];

export const splice: TabModule = {
  name: "splice",
  title: "Splice",
  missing: ({ project: { a, b } }) =>
    !a ? "Pick the clip with the action: it becomes A." : !b ? "Pick the clip with the legs: it becomes B." : null,
  inputs: ({ project }) => [project.a, project.b, project.splice],
  ask: ({ project: { a, b, splice: settings } }, api, have) =>
    api.ask("splice.make", { upper: a!, lower: b!, ...settings, have }),
  mount,
};

function mount(within: HTMLElement, { store }: Tools): void {
  const figure = createFigure((where) => take({ where }));
  const wheres = WHERES.map(
    ([name, text]) => [name, button(text, `take ${text} from A`, () => take({ where: name }), "small")] as const,
  );
  const cards = METHODS.map(([name, text]) => {
    const figures = make("span", { class: "method-figures" });
    const card = make(
      "button",
      { class: "method", attrs: { type: "button", "data-method": name }, on: { click: () => take({ method: name }) } },
      make("strong", {}, name),
      make("span", { class: "quiet" }, text),
      figures,
    );
    return { name, card, figures };
  });
  const compare = button("compare all four", "the results of the four methods next to one another", () =>
    take({ compare: !store.project.splice.compare }),
  );
  const short = make(
    "select",
    {
      attrs: { "aria-label": "when the action is shorter" },
      on: {
        change: () => take({ when_short: short.value as Project["splice"]["when_short"] }),
      },
    },
    ...["crop", "loop", "hold"].map((name) =>
      make(
        "option",
        { attrs: { value: name } },
        { crop: "crop the legs", loop: "loop the action", hold: "hold its last pose" }[name]!,
      ),
    ),
  );
  const align = checkbox("strokes on steps", "put an action that stands in step with the legs", () =>
    take({ align: align.box.checked }),
  );
  const soft = checkbox("soft waist", "the spine goes over joint by joint", () => take({ soft: soft.box.checked }));
  const bend = checkbox("keep bends", "keep deep bends of the action", () => take({ keep_bend: bend.box.checked }));
  within.append(
    make("section", { class: "picker" }, figureBox(figure.element)),
    make("section", { class: "wheres" }, make("h3", {}, "from A"), ...wheres.map(([, each]) => each)),
    make(
      "section",
      { class: "panel-right" },
      make("div", { class: "row" }, make("h3", {}, "method"), compare, make("span", { class: "gap" })),
      make("div", { class: "methods" }, ...cards.map(({ card }) => card)),
      make(
        "div",
        { class: "row" },
        make("label", { class: "tick" }, "if short:", short),
        align.label,
        soft.label,
        bend.label,
      ),
    ),
  );

  function take(part: Partial<Project["splice"]>): void {
    const next = { ...store.project.splice, ...part };
    // An arm or a head is on B's spine: there is no waist to soften, and no bend to keep.
    if (!TRUNKS.includes(next.where)) Object.assign(next, { soft: false, keep_bend: false });
    store.commit("", { splice: next });
  }

  function draw(result: TabResult | undefined): void {
    const settings = store.project.splice;
    figure.show(settings.where);
    for (const [name, each] of wheres) each.setAttribute("aria-pressed", String(name === settings.where));
    const detail = result?.answer.detail;
    for (const { name, card, figures } of cards) {
      card.setAttribute("aria-pressed", String(name === settings.method));
      const own = detail?.tab === "splice" ? detail.methods.find((each) => each.method === name) : undefined;
      figures.textContent = own
        ? `lean lost ${own.lean_lost_deg.toFixed(1)}° · sway ${Math.round(100 * own.sway)} %`
        : "";
      figures.title = own
        ? `how far the action's mean lean is lost; how much the torso sways as B's; largest joint step ${own.step.toFixed(2)} times the sources'`
        : "";
    }
    compare.setAttribute("aria-pressed", String(settings.compare));
    short.value = settings.when_short;
    align.box.checked = settings.align;
    align.box.disabled = settings.method === "naive";
    const trunk = TRUNKS.includes(settings.where);
    for (const [{ box }, on] of [
      [soft, settings.soft],
      [bend, settings.keep_bend],
    ] as const) {
      box.checked = on;
      box.disabled = !trunk;
    }
  }

  store.listen((project, scene, before) => {
    if (project.splice !== before.project.splice || scene.results !== before.scene.results) draw(scene.results.splice);
  });
  draw(undefined);
}

function figureBox(drawing: SVGSVGElement): HTMLElement {
  const box = make("div", { class: "figure-box" });
  box.append(drawing);
  return box;
}
