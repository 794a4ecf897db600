// The transition tab: distance of the clips, places to join, length and options.

import { button, checkbox, make, replace } from "../dom";
import type { Candidate, Span } from "../messages";
import type { Project, TabResult } from "../store";
import type { Tools } from "../tools";
import { createHeatMap } from "./heatmap";
import { isCurrent, type TabModule } from "./tab";

export const transition: TabModule = {
  name: "transition",
  title: "Transition",
  missing: ({ project: { a, b } }) => (!a ? "Pick a clip to start with." : !b ? "Pick a clip to go into." : null),
  inputs: ({ project }) => [project.a, project.b, project.transition, project.clean, project.plants],
  ask: ({ project }, api, have) => {
    const { a, b, transition: settings, clean, plants } = project;
    const used = Object.fromEntries(Object.entries(plants).filter(([id]) => id === a || id === b));
    return api.ask("transition.make", { a: a!, b: b!, ...settings, clean, plants: used, have });
  },
  mount,
};

function mount(within: HTMLElement, { store, clock }: Tools): void {
  const map = createHeatMap(clock, (at) => change("", { at }));
  const length = make("input", {
    attrs: { type: "range", min: "0.1", max: "2", step: "0.05", "aria-label": "length of the blend" },
    on: {
      input: () => change("length", { length_s: Number(length.value) }),
      change: () => store.endDrag(),
    },
  });
  const seconds = make("output", { class: "length-value" });
  const shorter = make("p", { class: "quiet shorter" });
  const moving = checkbox("both travel", "join only where both clips move", () =>
    change("", { moving: moving.box.checked, at: null }),
  );
  const warp = checkbox("keep step", "match the steps of A and B by timewarping", () =>
    change("", { timewarp: warp.box.checked }),
  );
  const clean = checkbox("clean feet", "keep planted feet still", () => store.commit("", { clean: clean.box.checked }));
  const best = button("Back to the best", "join at the best place again", () => change("", { at: null }), "small");
  const places = make("table", { class: "candidates" });
  within.append(
    map.element,
    make(
      "section",
      { class: "panel-right" },
      make("label", { class: "row" }, "length", length, seconds),
      shorter,
      make("div", { class: "row" }, moving.label, warp.label, clean.label),
      make("div", { class: "row places-head" }, make("h3", {}, "places to join"), best),
      places,
    ),
  );

  function change(key: string, part: Partial<Project["transition"]>): void {
    store.commit(key, { transition: { ...store.project.transition, ...part } });
  }

  function draw(result: TabResult | null): void {
    const { transition: settings, clean: cleaned } = store.project;
    const detail = result?.answer.detail.tab === "transition" ? result.answer.detail : null;
    const used = result && detail && isCurrent(transition, store) ? detail.length_s : settings.length_s;
    length.value = String(used);
    seconds.textContent = `${used.toFixed(2)} s`;
    const reason =
      used > settings.length_s
        ? "no place passes the quality check at that length"
        : "the clips or the quality check allow no more here";
    shorter.textContent = `${settings.length_s.toFixed(2)} s requested, ${used.toFixed(2)} s used: ${reason}.`;
    shorter.hidden = Math.abs(used - settings.length_s) < 0.02;
    moving.box.checked = settings.moving;
    warp.box.checked = settings.timewarp;
    clean.box.checked = cleaned;
    best.hidden = settings.at === null;
    const all = detail?.candidates ?? [];
    map.show(result, all);
    if (!detail) {
      replace(places);
      return;
    }
    const focused = places.contains(document.activeElement);
    const most = Math.max(...all.map(({ cost }) => cost));
    replace(
      places,
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          make("td"),
          ...["A", "B", "cost", "pose ▪ plants"].map((word) => make("th", { attrs: { scope: "col" } }, word)),
        ),
      ),
      make(
        "tbody",
        {},
        all.some((each) => same(each, detail.at))
          ? null
          : make(
              "tr",
              { class: "taken" },
              ...["●", ...detail.at.map(String), "set by hand"].map((text) => make("td", {}, text)),
            ),
        ...all.map((each) => placeRow(each, detail.at, most, () => change("", { at: [each.frame_a, each.frame_b] }))),
      ),
    );
    if (focused) places.querySelector<HTMLElement>(".taken .pick")?.focus(); // the rows were replaced
  }

  store.listen((project, scene, before) => {
    if (scene.results !== before.scene.results || project !== before.project) draw(scene.results.transition ?? null);
  });
  draw(null);
}

function same(place: Candidate, at: Span): boolean {
  return place.frame_a === at[0] && place.frame_b === at[1];
}

function placeRow(place: Candidate, at: Span, most: number, take: () => void): HTMLElement {
  const here = same(place, at);
  const cell = (text: string): HTMLElement => make("td", {}, text);
  const cm = (metres: number): string => (100 * metres).toFixed(1);
  const [pose, feet] = [make("i", { class: "pose" }), make("i", { class: "feet" })];
  pose.style.width = `${(100 * place.pose) / most}%`;
  feet.style.width = `${(100 * place.feet) / most}%`;
  const title = `pose ${cm(place.pose)} cm, plants that disagree ${cm(place.feet)} cm${place.both_moving ? "" : "; one of them stands"}`;
  const pick = button(
    here ? "●" : "○",
    `join frame ${place.frame_a} of A and frame ${place.frame_b} of B`,
    () => undefined,
    "pick",
  );
  pick.setAttribute("aria-label", pick.title);
  pick.setAttribute("aria-pressed", String(here));
  // A press of the button reaches the row as a click.
  return make(
    "tr",
    { class: here ? "taken" : "", title, on: { click: take } },
    make("td", {}, pick),
    cell(String(place.frame_a)),
    cell(String(place.frame_b)),
    cell(`${cm(place.cost)} cm`),
    make("td", { class: "parts" }, make("span", {}, pose, feet)),
  );
}
