// The pad: a point to drag, between clips (weights) or in a plane (parameters).

import { make } from "../dom";
import { refill, shape } from "../svg";
import { cornersOf, type Spot, spotOf, weightsAt } from "./shares";

export type PadState =
  | { kind: "weights"; names: string[]; weights: number[] }
  | { kind: "plane"; axes: string[]; ranges: [number, number][]; clips: string[]; values: number[][]; at: number[] };

export type Steered = (state: PadState) => void;

const [WIDE, TALL] = [320, 200];
const [MIDDLE, RADIUS]: [Spot, number] = [[WIDE / 2, TALL / 2 + 2], 72];
const BOX = { left: 44, right: 20, top: 22, bottom: 30 };

export function createPad(
  steered: Steered,
  release: () => void,
): { element: HTMLElement; show(state: PadState): void } {
  const drawing = shape("svg", {
    viewBox: `0 0 ${WIDE} ${TALL}`,
    class: "pad",
    tabindex: 0,
    role: "application",
    "aria-label": "mixing pad: drag, or use the arrow keys",
  });
  const element = make("div", { class: "pad-box" });
  element.append(drawing);
  let state: PadState | null = null;
  let held = false;

  function toPixels(spot: Spot): Spot {
    const stretch = state?.kind === "weights" && state.names.length === 2 ? 1.5 : 1;
    return [MIDDLE[0] + stretch * RADIUS * spot[0], MIDDLE[1] + RADIUS * spot[1]];
  }

  function planePixels(at: number[], ranges: [number, number][]): Spot {
    const part = (k: number): number => (at[k] - ranges[k][0]) / Math.max(ranges[k][1] - ranges[k][0], 1e-9);
    const x = BOX.left + part(0) * (WIDE - BOX.left - BOX.right);
    return [x, ranges.length > 1 ? TALL - BOX.bottom - part(1) * (TALL - BOX.top - BOX.bottom) : TALL / 2];
  }

  function moved(pixels: Spot): PadState | null {
    if (!state) return null;
    if (state.kind === "weights") {
      const stretch = state.names.length === 2 ? 1.5 : 1;
      const spot: Spot = [(pixels[0] - MIDDLE[0]) / (stretch * RADIUS), (pixels[1] - MIDDLE[1]) / RADIUS];
      return { ...state, weights: weightsAt(spot, cornersOf(state.names.length)) };
    }
    const parts = [
      (pixels[0] - BOX.left) / (WIDE - BOX.left - BOX.right),
      (TALL - BOX.bottom - pixels[1]) / (TALL - BOX.top - BOX.bottom),
    ];
    return {
      ...state,
      at: state.ranges.map(([low, high], k) => low + Math.min(Math.max(parts[k], 0), 1) * (high - low)),
    };
  }

  function knobPixels(): Spot {
    if (!state) return MIDDLE;
    return state.kind === "weights"
      ? toPixels(spotOf(state.weights, cornersOf(state.names.length)))
      : planePixels(state.at, state.ranges);
  }

  function take(event: PointerEvent): void {
    const matrix = drawing.getScreenCTM();
    if (!matrix) return;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    go([x, y]);
  }

  function go(pixels: Spot): void {
    const next = moved(pixels);
    if (!next) return;
    show(next);
    steered(next);
  }

  drawing.addEventListener("pointerdown", (event) => {
    held = true;
    drawing.setPointerCapture(event.pointerId);
    take(event);
  });
  drawing.addEventListener("pointermove", (event) => {
    if (held) take(event);
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    drawing.addEventListener(end, () => {
      const was = held;
      held = false;
      if (was) release();
    });
  }
  drawing.addEventListener("keydown", (event) => {
    const steps: Record<string, Spot> = { ArrowLeft: [-4, 0], ArrowRight: [4, 0], ArrowUp: [0, -4], ArrowDown: [0, 4] };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const [x, y] = knobPixels();
    go([x + step[0], y + step[1]]);
    release();
  });

  function show(next: PadState): void {
    state = next;
    refill(drawing, ...(next.kind === "weights" ? drawWeights(next) : drawPlane(next)));
    const [x, y] = knobPixels();
    drawing.append(
      shape("circle", { cx: x, cy: y, r: 9, class: "knob-ring" }),
      shape("circle", { cx: x, cy: y, r: 5, class: "knob" }),
    );
  }

  function drawWeights({ names, weights }: { names: string[]; weights: number[] }): SVGElement[] {
    const corners = cornersOf(names.length).map(toPixels);
    const knob = knobPixels();
    const field =
      names.length === 2
        ? shape("line", {
            x1: corners[0][0],
            y1: corners[0][1],
            x2: corners[1][0],
            y2: corners[1][1],
            class: "pad-line",
          })
        : shape("polygon", { points: corners.map((corner) => corner.join()).join(" "), class: "pad-field" });
    const rays = corners.map(([x, y], k) =>
      shape("line", {
        x1: knob[0],
        y1: knob[1],
        x2: x,
        y2: y,
        class: `ray ${tintOf(k)}`,
        "stroke-opacity": weights[k],
        "stroke-width": 1 + 5 * weights[k],
      }),
    );
    const marks = corners.flatMap(([x, y], k) => {
      const side = Math.abs(x - MIDDLE[0]) < 20 ? "middle" : x > MIDDLE[0] ? "start" : "end";
      const away = side === "middle" ? 0 : side === "start" ? 13 : -13;
      const lift = names.length === 2 ? 24 : side === "middle" ? (y < MIDDLE[1] ? -13 : 21) : 4;
      return [
        shape("circle", { cx: x, cy: y, r: 4 + 6 * weights[k], class: `corner ${tintOf(k)}` }),
        shape(
          "text",
          {
            x: names.length === 2 ? x : x + away,
            y: y + lift,
            "text-anchor": names.length === 2 ? "middle" : side,
            class: `pad-name ${tintOf(k)}`,
          },
          `${short(names[k])} ${Math.round(100 * weights[k])} %`,
        ),
      ];
    });
    return [field, ...rays, ...marks];
  }

  function drawPlane({ axes, ranges, clips, values, at }: Extract<PadState, { kind: "plane" }>): SVGElement[] {
    const [left, right, top, bottom] = [BOX.left, WIDE - BOX.right, BOX.top, TALL - BOX.bottom];
    const field =
      axes.length > 1
        ? shape("rect", { x: left, y: top, width: right - left, height: bottom - top, rx: 6, class: "pad-field" })
        : shape("line", { x1: left, y1: TALL / 2, x2: right, y2: TALL / 2, class: "pad-line" });
    const below = axes.length > 1 ? bottom + 14 : TALL / 2 + 46;
    const valueText = (value: number, k: number): string =>
      axes[k] === "turn" ? `${Math.round((180 / Math.PI) * value)}°` : `${value.toFixed(1)} m/s`;
    const ticks = axes.flatMap((name, k) => {
      const across = k === 0;
      return [0, 1]
        .map((end) =>
          shape(
            "text",
            {
              x: across ? (end ? right : left) : left - 6,
              y: across ? below : end ? top + 10 : bottom,
              "text-anchor": across ? (end ? "end" : "start") : "end",
              class: "pad-tick",
            },
            valueText(ranges[k][end], k),
          ),
        )
        .concat(
          shape(
            "text",
            {
              x: across ? (left + right) / 2 : left - 6,
              y: across ? below : (top + bottom) / 2,
              "text-anchor": across ? "middle" : "end",
              class: "pad-axis",
            },
            name,
          ),
        );
    });
    const marks = clips.flatMap((clip, k) => {
      const [x, y] = planePixels(values[k], ranges);
      return [
        shape("circle", { cx: x, cy: y, r: 5, class: `corner ${tintOf(k)}` }),
        shape(
          "text",
          {
            x,
            y: y - 10,
            "text-anchor": x > 0.75 * WIDE ? "end" : x < 0.25 * WIDE ? "start" : "middle",
            class: `pad-name ${tintOf(k)}`,
          },
          short(clip),
        ),
      ];
    });
    const [x, y] = planePixels(at, ranges);
    const cross =
      axes.length > 1 ? [shape("path", { d: `M${left} ${y}H${right}M${x} ${top}V${bottom}`, class: "pad-cross" })] : [];
    const now = shape(
      "text",
      { x, y: y + 24, "text-anchor": "middle", class: "pad-now" },
      axes.map((_, k) => valueText(at[k], k)).join("  "),
    );
    return [field, ...cross, ...ticks, ...marks, now];
  }

  // During a drag the pointer sets the knob.
  return {
    element,
    show: (next) => {
      if (!held) show(next);
    },
  };
}

// A is amber, B blue; the others share one colour.
export function tintOf(k: number): string {
  return k === 0 ? "amber" : k === 1 ? "blue" : "ink";
}

function short(name: string): string {
  const last = name
    .split("/")
    .at(-1)!
    .replace(/\.\w+$/, "");
  return last.length > 14 ? `${last.slice(0, 13)}…` : last;
}
