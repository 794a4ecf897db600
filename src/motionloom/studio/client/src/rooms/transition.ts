// The transition room: distance grid with the path through it, candidates, length and choices.

import { make, replace } from "../dom";
import type { Candidate, TransitionDetail } from "../messages";
import type { Tools } from "../panel";
import type { Made } from "../store";
import { magma } from "./heat";
import type { RoomModule } from "./room";
import "./transition.css";

export const transition: RoomModule = {
  name: "transition",
  title: "Transition",
  missing: ({ a, b }) => (!a ? "Pick a clip to begin with." : !b ? "Pick a clip to go into." : null),
  inputs: (project) => [project.a, project.b, project.transition, project.clean, project.plants],
  ask: ({ a, b, transition: wish, clean, plants }, api, have) => {
    const used = Object.fromEntries(Object.entries(plants).filter(([id]) => id === a || id === b));
    return api.ask("transition.make", { a: a!, b: b!, ...wish, clean, plants: used, have });
  },
  mount,
};

function mount(within: HTMLElement, { store, clock }: Tools): void {
  const canvas = make("canvas", { class: "grid", attrs: { "aria-label": "distance of all frames of A and B" } });
  const now = make("span", { class: "grid-now" });
  const cross = make("span", { class: "grid-cross" });
  const map = make("div", { class: "grid-box" }, canvas, cross, now);
  const said = make("output", { class: "grid-said" });
  const legend = make("span", { class: "grid-legend", title: "distance of the bodies" }, make("span"), make("i"), make("span"));
  const length = make("input", { attrs: { type: "range", min: "0.1", max: "2", step: "0.05", "aria-label": "length of the blend" }, on: {
    input: () => change("length", { length_s: Number(length.value) }),
    change: () => store.settle(),
  } });
  const lengthSaid = make("output");
  const moving = tick("both travel", () => change("", { moving: moving.box.checked, at: null }));
  const warp = tick("keep step", () => change("", { timewarp: warp.box.checked }));
  const clean = tick("clean feet", () => store.decide("", { clean: clean.box.checked }));
  const places = make("table", { class: "candidates" });
  within.append(
    make("section", { class: "room-left" }, make("header", { class: "grid-head" },
      make("h3", {}, "how alike"), make("span", { class: "amber" }, "A →"), make("span", { class: "blue" }, "B ↑"), said, legend), map),
    make("section", { class: "room-right" },
      make("label", { class: "row" }, "length", length, lengthSaid),
      make("div", { class: "row" }, moving.label, warp.label, clean.label),
      make("h3", {}, "places to join"), places));

  function change(key: string, part: Partial<typeof store.project.transition>): void {
    store.decide(key, { transition: { ...store.project.transition, ...part } });
  }

  function draw(made: Made | undefined): void {
    const { transition: wish, clean: cleaned } = store.project;
    length.value = String(wish.length_s);
    lengthSaid.textContent = `${wish.length_s.toFixed(2)} s`;
    moving.box.checked = wish.moving;
    warp.box.checked = wish.timewarp;
    clean.box.checked = cleaned;
    if (!made || made.answer.detail.room !== "transition") {
      replace(places);
      canvas.hidden = true;
      return;
    }
    canvas.hidden = false;
    const detail = made.answer.detail;
    replace(places,
      make("thead", {}, make("tr", {}, ...["", "A", "B", "cost", "pose ▪ plants"].map((word) => make("th", {}, word)))),
      make("tbody", {}, ...detail.candidates.map((each) => placeRow(each, detail, () => change("", { at: [each.frame_a, each.frame_b] })))));
    const [low, high] = drawGrid(canvas, made, detail);
    legend.firstElementChild!.textContent = (100 * low).toFixed(0);
    legend.lastElementChild!.textContent = `${(100 * high).toFixed(0)} cm`;
  }

  // The cell under the hand: its frames of A and B, and its distance.
  function cellAt(event: PointerEvent | MouseEvent): { a: number; b: number; apart: number } | null {
    const made = store.scene.made.transition;
    if (!made || made.answer.detail.room !== "transition") return null;
    const box = canvas.getBoundingClientRect();
    const [n, m] = made.arrays.grid.shape;
    const { stride } = made.answer.detail;
    const i = Math.min(Math.max(Math.floor(((event.clientX - box.left) / box.width) * n), 0), n - 1);
    const j = Math.min(Math.max(Math.floor((1 - (event.clientY - box.top) / box.height) * m), 0), m - 1);
    return { a: i * stride, b: j * stride, apart: made.arrays.grid.values[i * m + j] };
  }

  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (cell) change("", { at: [cell.a, cell.b] });
  });
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellAt(event);
    if (!cell) return;
    said.textContent = `A ${cell.a} · B ${cell.b} · ${(100 * cell.apart).toFixed(1)} cm`;
    const box = canvas.getBoundingClientRect();
    cross.style.translate = `${event.clientX - box.left}px ${event.clientY - box.top}px`;
    cross.hidden = false;
  });
  canvas.addEventListener("pointerleave", () => {
    said.textContent = "";
    cross.hidden = true;
  });
  cross.hidden = true;
  clock.onTick((time) => {
    const made = store.scene.made.transition;
    const shown = store.project.room === "transition" && made?.answer.detail.room === "transition" ? made : null;
    const f = shown ? Math.min(Math.round(time * shown.motion.fps), shown.motion.frames - 1) : 0;
    const [a, b] = shown ? shown.sourceFrames.subarray(2 * f, 2 * f + 2) : [NaN, NaN];
    now.hidden = !shown || !Number.isFinite(a + b);
    if (!shown || now.hidden || shown.answer.detail.room !== "transition") return;
    const [n, m] = shown.arrays.grid.shape;
    const { stride } = shown.answer.detail;
    now.style.translate = `${((a / stride + 0.5) / n) * canvas.clientWidth}px ${((m - 0.5 - b / stride) / m) * canvas.clientHeight}px`;
  });

  store.listen((project, scene, before) => {
    if (scene.made !== before.scene.made || project !== before.project) draw(scene.made.transition);
  });
  new ResizeObserver(() => draw(store.scene.made.transition)).observe(map);
}

function placeRow(place: Candidate, detail: TransitionDetail, take: () => void): HTMLElement {
  const here = place.frame_a === detail.at[0] && place.frame_b === detail.at[1];
  const most = Math.max(...detail.candidates.map(({ cost }) => cost));
  const cell = (text: string): HTMLElement => make("td", {}, text);
  const cm = (metres: number): string => (100 * metres).toFixed(1);
  const [pose, feet] = [make("i", { class: "pose" }), make("i", { class: "feet" })];
  pose.style.width = `${(100 * place.pose) / most}%`;
  feet.style.width = `${(100 * place.feet) / most}%`;
  const title = `pose ${cm(place.pose)} cm, plants that disagree ${cm(place.feet)} cm${place.both_moving ? "" : "; one of them stands"}`;
  return make("tr", { class: here ? "taken" : "", title, on: { click: take } },
    cell(here ? "●" : ""), cell(String(place.frame_a)), cell(String(place.frame_b)), cell(`${cm(place.cost)} cm`), make("td", { class: "parts" }, make("span", {}, pose, feet)));
}

// Dark is alike. A runs to the right, B upwards.
function drawGrid(canvas: HTMLCanvasElement, made: Made, detail: TransitionDetail): [number, number] {
  const [n, m] = made.arrays.grid.shape;
  const cost = made.arrays.grid.values;
  const sorted = Float32Array.from(cost).sort();
  const [low, high] = [sorted[0], sorted[Math.floor(0.98 * (sorted.length - 1))]];
  const { clientWidth, clientHeight } = canvas.parentElement!;
  canvas.width = Math.round(clientWidth * devicePixelRatio) || n;
  canvas.height = Math.round(clientHeight * devicePixelRatio) || m;
  const [wide, tall] = [canvas.width / n, canvas.height / m]; // pixels of a cell
  const context = canvas.getContext("2d");
  if (!context) return [low, high];
  const image = new ImageData(n, m);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      const [r, g, b] = magma((cost[i * m + j] - low) / Math.max(high - low, 1e-9));
      image.data.set([r, g, b, 255], 4 * ((m - 1 - j) * n + i));
    }
  }
  const small = new OffscreenCanvas(n, m);
  small.getContext("2d")!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  const spot = (a: number, b: number): [number, number] => [(a / detail.stride + 0.5) * wide, (m - 0.5 - b / detail.stride) * tall];
  const path = made.arrays.path.values;
  for (const [thick, colour] of [[5, "#1a1d24"], [2.5, "#ffffff"]] as const) {
    context.lineWidth = thick;
    context.strokeStyle = colour;
    context.lineCap = "round";
    context.beginPath();
    for (let k = 0; k < path.length / 2; k++) context.lineTo(...spot(path[2 * k], path[2 * k + 1]));
    context.stroke();
  }
  detail.candidates.forEach((place, k) => {
    const [x, y] = spot(place.frame_a, place.frame_b);
    context.beginPath();
    context.arc(x, y, k === 0 ? 6 : 4, 0, 2 * Math.PI);
    context.fillStyle = k === 0 ? "#ffffff" : "rgba(255,255,255,0.15)";
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1.5;
    context.fill();
    context.stroke();
  });
  return [low, high];
}

function tick(text: string, changed: () => void): { label: HTMLLabelElement; box: HTMLInputElement } {
  const box = make("input", { attrs: { type: "checkbox" }, on: { change: changed } });
  return { label: make("label", { class: "tick" }, box, text), box };
}
