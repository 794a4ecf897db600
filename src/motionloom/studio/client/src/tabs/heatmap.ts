// The heat map of a transition: distance of every frame of A to every frame of B, with the places to
// join and the frames that are blended. A runs to the right, B upwards, dark is similar.

import type { Clock } from "../clock";
import { make } from "../dom";
import type { Candidate, Span, TransitionDetail } from "../messages";
import type { TabResult } from "../store";
import { magma } from "./heat";

export interface HeatMap {
  element: HTMLElement;
  show(result: TabResult | null, places: Candidate[]): void;
}

const cm = (metres: number): string => (100 * metres).toFixed(1);

// `take`: a place that was clicked, as frames of A and B.
export function createHeatMap(clock: Clock, take: (at: Span) => void): HeatMap {
  const canvas = make("canvas", {
    class: "grid",
    attrs: {
      role: "img",
      "aria-label": "distance between all frames of A and B; the table next to it lists the best places",
    },
  });
  const now = make("span", { class: "grid-now" });
  const cross = make("span", { class: "grid-cross" });
  const tip = make("output", { class: "grid-tip" });
  const box = make("div", { class: "grid-box" }, canvas, cross, now, tip);
  const [low, high, match, matched] = [
    make("span"),
    make("span"),
    make("b", { class: "grid-match" }),
    make("span", { class: "grid-matched" }),
  ];
  const scale = make("i", {}, match);
  const legend = make(
    "span",
    { class: "grid-legend", title: "distance between the bodies; the mark is the pose distance where A and B join" },
    matched,
    low,
    scale,
    high,
  );
  const element = make(
    "section",
    { class: "panel-left" },
    make(
      "header",
      { class: "grid-head" },
      make("h3", {}, "distance"),
      make("span", { class: "amber" }, "A →"),
      make("span", { class: "blue" }, "B ↑"),
      make("span", { class: "gap" }),
      legend,
    ),
    box,
  );
  let shown: { result: TabResult; detail: TransitionDetail; places: Candidate[] } | null = null;

  // The frames under the pointer; as for the drawn places, a frame lies in the middle of its cell.
  function framesAt(event: MouseEvent): { at: Span; distance: number } | null {
    if (!shown) return null;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    if (!width || !height) return null;
    const {
      result,
      detail: { stride },
    } = shown;
    const [n, m] = result.arrays.grid.shape;
    const [x, y] = [(event.clientX - left) / width, 1 - (event.clientY - top) / height];
    const frame = (part: number, cells: number, k: number): number =>
      Math.min(Math.max(Math.round((part * cells - 0.5) * stride), 0), result.sources[k].frames - 1);
    const cell = (part: number, cells: number): number => Math.min(Math.max(Math.floor(part * cells), 0), cells - 1);
    const k = cell(x, n) * m + cell(y, m);
    const best = result.arrays.grid_best?.values; // the frames of a cell that have its distance
    return {
      at: best ? [best[2 * k], best[2 * k + 1]] : [frame(x, n, 0), frame(y, m, 1)],
      distance: result.arrays.grid.values[k],
    };
  }

  canvas.addEventListener("click", (event) => {
    const under = framesAt(event);
    if (under) take(under.at);
  });
  let pointer: MouseEvent | null = null; // the last one over the map
  function read(): void {
    const under = pointer && framesAt(pointer);
    tip.hidden = cross.hidden = !under;
    if (!pointer || !under) return;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const [x, y] = [pointer.clientX - left, pointer.clientY - top];
    cross.style.translate = `${x}px ${y}px`;
    tip.textContent = `A ${under.at[0]} · B ${under.at[1]} · ${cm(under.distance)} cm`;
    // Over the map, in the corner farthest from the pointer: nothing around it moves.
    Object.assign(
      tip.style,
      x < width / 2 ? { left: "auto", right: "4px" } : { left: "4px", right: "auto" },
      y < height / 2 ? { top: "auto", bottom: "4px" } : { top: "4px", bottom: "auto" },
    );
  }
  canvas.addEventListener("pointermove", (event) => {
    pointer = event;
    read();
  });
  canvas.addEventListener("pointerleave", () => {
    pointer = null;
    read();
  });
  read();

  clock.onTick((time) => {
    if (!shown || !canvas.clientWidth) {
      now.hidden = true;
      return;
    }
    const {
      result,
      detail: { stride },
    } = shown;
    const f = Math.min(Math.round(time * result.motion.fps), result.motion.frames - 1);
    const [a, b] = result.sourceFrames.subarray(2 * f, 2 * f + 2);
    now.hidden = !Number.isFinite(a + b);
    if (now.hidden) return;
    const [n, m] = result.arrays.grid.shape;
    now.style.translate = `${((a / stride + 0.5) / n) * canvas.clientWidth}px ${((m - 0.5 - b / stride) / m) * canvas.clientHeight}px`;
  });

  function draw(): void {
    canvas.hidden = legend.hidden = !shown;
    read(); // another map under a resting pointer
    if (!shown) return;
    const { result, detail, places } = shown;
    const joined = poseAt(result);
    const [nearest, farthest] = detail.grid_range;
    const range: [number, number] = [Math.min(nearest, joined), Math.max(farthest, joined)];
    paint(canvas, result, detail, places, range);
    low.textContent = (100 * range[0]).toFixed(0);
    high.textContent = `${(100 * range[1]).toFixed(0)} cm`;
    match.style.left = `${100 * Math.min(Math.max((joined - range[0]) / Math.max(range[1] - range[0], 1e-9), 0), 1)}%`;
    matched.textContent = `match ${cm(joined)} cm`;
  }
  new ResizeObserver(draw).observe(box);

  return {
    element,
    show(result, places) {
      const detail = result?.answer.detail;
      shown = result && detail?.tab === "transition" ? { result, detail, places } : null;
      draw();
    },
  };
}

// Distance of the bodies at the place where they join, in metres: the figure that the quality panel shows.
function poseAt({ answer }: TabResult): number {
  return (answer.why.rows.find(({ label }) => label.trim() === "pose")?.value ?? 0) / 100;
}

function paint(
  canvas: HTMLCanvasElement,
  result: TabResult,
  detail: TransitionDetail,
  places: Candidate[],
  [low, high]: [number, number],
): void {
  const [n, m] = result.arrays.grid.shape;
  const distance = result.arrays.grid.values;
  const { clientWidth, clientHeight } = canvas.parentElement!;
  canvas.width = Math.round(clientWidth * devicePixelRatio) || n;
  canvas.height = Math.round(clientHeight * devicePixelRatio) || m;
  const [wide, tall] = [canvas.width / n, canvas.height / m]; // pixels of a cell
  const context = canvas.getContext("2d");
  if (!context) return;
  const image = new ImageData(n, m);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      const [r, g, b] = magma((distance[i * m + j] - low) / Math.max(high - low, 1e-9));
      image.data.set([r, g, b, 255], 4 * ((m - 1 - j) * n + i));
    }
  }
  const small = new OffscreenCanvas(n, m);
  small.getContext("2d")!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  const spot = (a: number, b: number): [number, number] => [
    (a / detail.stride + 0.5) * wide,
    (m - 0.5 - b / detail.stride) * tall,
  ];
  const path = result.arrays.path.values;
  for (const [thick, colour] of [
    [5, "#1a1d24"],
    [2.5, "#ffffff"],
  ] as const) {
    context.lineWidth = thick;
    context.strokeStyle = colour;
    context.lineCap = "round";
    context.beginPath();
    for (let k = 0; k < path.length / 2; k++) context.lineTo(...spot(path[2 * k], path[2 * k + 1]));
    context.stroke();
  }
  for (const [a, b, taken] of [
    ...places.map(({ frame_a, frame_b }) => [frame_a, frame_b, false] as const),
    [...detail.at, true] as const,
  ]) {
    context.beginPath();
    context.arc(...spot(a, b), taken ? 6 : 4, 0, 2 * Math.PI);
    context.fillStyle = taken ? "#ffffff" : "rgba(255,255,255,0.15)";
    context.strokeStyle = "#ffffff";
    context.lineWidth = 1.5;
    context.fill();
    context.stroke();
  }
}
