// The splice tab: a part of A on the rest of B, chosen on a figure, made by one of four methods.

import { button, make } from "../dom";
import type { Method } from "../messages";
import type { Tools } from "../panel";
import type { Made, Project } from "../store";
import { createFigure, WHERES } from "./figure";
import type { RoomModule } from "./room";
import "./splice.css";

const METHODS: [Method, string][] = [
  ["naive", "joints copied, frame by frame"],
  ["time", "in step with the legs"],
  ["time+space", "and moving with their sway"],
  ["full", "and in its own posture"],
];
const TRUNKS = ["torso", "chest"];

export const splice: RoomModule = {
  name: "splice",
  title: "Splice",
  missing: ({ a, b }) =>
    !a ? "Pick the clip with the action: it becomes A." : !b ? "Pick the clip with the legs: it becomes B." : null,
  inputs: (project) => [project.a, project.b, project.splice],
  ask: ({ a, b, splice: wish }, api, have) => api.ask("splice.make", { upper: a!, lower: b!, ...wish, have }),
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
  const soft = tick("soft waist", "the spine goes over joint by joint", () => take({ soft: soft.box.checked }));
  const bend = tick("keep bends", "keep deep bends of the action", () => take({ keep_bend: bend.box.checked }));
  within.append(
    make("section", { class: "picker" }, figureBox(figure.element)),
    make("section", { class: "wheres" }, make("h3", {}, "from A"), ...wheres.map(([, each]) => each)),
    make(
      "section",
      { class: "room-right" },
      make("div", { class: "row" }, make("h3", {}, "method"), compare, make("span", { class: "gap" })),
      make("div", { class: "methods" }, ...cards.map(({ card }) => card)),
      make("div", { class: "row" }, make("label", { class: "tick" }, "if short:", short), soft.label, bend.label),
    ),
  );

  function take(part: Partial<Project["splice"]>): void {
    const next = { ...store.project.splice, ...part };
    // An arm or a head hangs on B's own spine: there is no waist to soften, and no bend to keep.
    if (!TRUNKS.includes(next.where)) Object.assign(next, { soft: false, keep_bend: false });
    store.decide("", { splice: next });
  }

  function draw(made: Made | undefined): void {
    const wish = store.project.splice;
    figure.show(wish.where);
    for (const [name, each] of wheres) each.setAttribute("aria-pressed", String(name === wish.where));
    const detail = made?.answer.detail;
    for (const { name, card, figures } of cards) {
      card.setAttribute("aria-pressed", String(name === wish.method));
      const own = detail?.room === "splice" ? detail.methods.find((each) => each.method === name) : undefined;
      figures.textContent = own
        ? `lean lost ${own.lean_lost_deg.toFixed(1)}° · sway ${Math.round(100 * own.sway)} %`
        : "";
      figures.title = own
        ? `how far the action's mean lean is lost; how much the torso sways as B's; largest joint step ${own.step.toFixed(2)} times the sources'`
        : "";
    }
    compare.setAttribute("aria-pressed", String(wish.compare));
    short.value = wish.when_short;
    const trunk = TRUNKS.includes(wish.where);
    for (const [{ box }, on] of [
      [soft, wish.soft],
      [bend, wish.keep_bend],
    ] as const) {
      box.checked = on;
      box.disabled = !trunk;
    }
  }

  store.listen((project, scene, before) => {
    if (project.splice !== before.project.splice || scene.made !== before.scene.made) draw(scene.made.splice);
  });
  draw(undefined);
}

function figureBox(drawing: SVGSVGElement): HTMLElement {
  const box = make("div", { class: "figure-box" });
  box.append(drawing);
  return box;
}

function tick(text: string, title: string, changed: () => void): { label: HTMLLabelElement; box: HTMLInputElement } {
  const box = make("input", { attrs: { type: "checkbox" }, on: { change: changed } });
  return { label: make("label", { class: "tick", title }, box, text), box };
}
