// The transition tab: distance of the clips, places to join, length and options.

import { button, make, replace } from "../dom";
import type { Candidate, Span, TransitionDetail } from "../messages";
import type { Tools } from "../panel";
import type { Made, Project } from "../store";
import { createHeatMap } from "./heatmap";
import { isCurrent, type RoomModule } from "./room";
import "./transition.css";

export const transition: RoomModule = {
  name: "transition",
  title: "Transition",
  missing: ({ a, b }) => (!a ? "Pick a clip to start with." : !b ? "Pick a clip to go into." : null),
  inputs: (project) => [project.a, project.b, project.transition, project.clean, project.plants],
  ask: ({ a, b, transition: wish, clean, plants }, api, have) => {
    const used = Object.fromEntries(Object.entries(plants).filter(([id]) => id === a || id === b));
    return api.ask("transition.make", { a: a!, b: b!, ...wish, clean, plants: used, have });
  },
  mount,
};

function mount(within: HTMLElement, { store, clock }: Tools): void {
  const map = createHeatMap(clock, (at) => change("", { at }));
  const length = make("input", {
    attrs: { type: "range", min: "0.1", max: "2", step: "0.05", "aria-label": "length of the blend" },
    on: {
      input: () => change("length", { length_s: Number(length.value) }),
      change: () => store.settle(),
    },
  });
  const seconds = make("output", { class: "length-value" });
  const shorter = make("p", { class: "quiet shorter" });
  const moving = tick("both travel", "join only where both clips move", () =>
    change("", { moving: moving.box.checked, at: null }),
  );
  const warp = tick("keep step", "match the steps of A and B by timewarping", () =>
    change("", { timewarp: warp.box.checked }),
  );
  const clean = tick("clean feet", "keep planted feet still", () => store.decide("", { clean: clean.box.checked }));
  const best = button("Back to the best", "join at the best place again", () => change("", { at: null }), "small");
  const places = make("table", { class: "candidates" });
  within.append(
    map.element,
    make(
      "section",
      { class: "room-right" },
      make("label", { class: "row" }, "length", length, seconds),
      shorter,
      make("div", { class: "row" }, moving.label, warp.label, clean.label),
      make("div", { class: "row places-head" }, make("h3", {}, "places to join"), best),
      places,
    ),
  );

  // The alternatives of the last automatic search: a server may leave them out for a place set by hand.
  let searched: { key: string; places: Candidate[] } = { key: "", places: [] };

  function change(key: string, part: Partial<Project["transition"]>): void {
    store.decide(key, { transition: { ...store.project.transition, ...part } });
  }

  function placesOf(detail: TransitionDetail): Candidate[] {
    const { a, b, plants, transition: wish } = store.project;
    const key = JSON.stringify([a, b, wish.moving, plants]);
    if (wish.at === null && isCurrent(transition, store)) searched = { key, places: detail.candidates };
    const others = detail.candidates.length > 1 || searched.key !== key ? [] : searched.places;
    return [
      ...detail.candidates,
      ...others.filter((each) => !detail.candidates.some((own) => same(own, [each.frame_a, each.frame_b]))),
    ];
  }

  function draw(made: Made | null): void {
    const { transition: wish, clean: cleaned } = store.project;
    const detail = made?.answer.detail.room === "transition" ? made.answer.detail : null;
    const used = made && detail && isCurrent(transition, store) ? lengthOf(made, detail) : wish.length_s;
    length.value = String(used);
    seconds.textContent = `${used.toFixed(2)} s`;
    const reason =
      used > wish.length_s
        ? "no place passes the quality check at that length"
        : "the clips or the quality check allow no more here";
    shorter.textContent = `${wish.length_s.toFixed(2)} s asked for, ${used.toFixed(2)} s used: ${reason}.`;
    shorter.hidden = Math.abs(used - wish.length_s) < 0.02;
    moving.box.checked = wish.moving;
    warp.box.checked = wish.timewarp;
    clean.box.checked = cleaned;
    best.hidden = wish.at === null;
    const all = detail ? placesOf(detail) : [];
    map.show(made, all);
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
    if (scene.made !== before.scene.made || project !== before.project) draw(scene.made.transition ?? null);
  });
  draw(null);
}

// The length that was used: clips that end soon allow less, and other lengths are tried where no place passes.
function lengthOf(made: Made, { length_s, span }: TransitionDetail): number {
  return length_s ?? (span[1] - span[0]) / made.motion.fps;
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

function tick(text: string, title: string, changed: () => void): { label: HTMLLabelElement; box: HTMLInputElement } {
  const box = make("input", { attrs: { type: "checkbox" }, on: { change: changed } });
  return { label: make("label", { class: "tick", title }, box, text), box };
}
