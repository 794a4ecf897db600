// The timeline's rows: where each lies, and how it is drawn. Nothing here handles the mouse.

import { KINDS, type ShownMotion } from "../motion";
import type { Palette } from "../theme";
import { GUTTER, type Scale, ticksOf } from "./scale";

export interface Strip {
  text: string;
  colour: "amber" | "blue";
  first: number;
  last: number;
} // result's frames
export interface Bracket {
  first: number;
  last: number;
}

// All that the timeline shows, on the clock of one motion.
export interface Content {
  motion: ShownMotion;
  strips: [Strip, Strip] | null;
  bracket: Bracket | null;
  // How far the two bodies are apart at every frame, metres, nan where one of them is over.
  cost: Float32Array | null;
}

const NAMES = ["L heel", "L toe", "R heel", "R toe"];
export const RULER = 18;
const STRIPS = 30;
const LANE = 13;
const SPEED = 44;
const COST = 30;

export interface Rows {
  strips: number;
  lanes: number;
  speed: number;
  cost: number;
  height: number;
} // tops

export function rowsOf(content: Content | null): Rows {
  const lanes = RULER + (content?.strips ? STRIPS : 2);
  const speed = lanes + KINDS.length * LANE + 4;
  const cost = speed + (content?.motion.speeds ? SPEED : 0);
  return { strips: RULER, lanes, speed, cost, height: cost + (content?.cost ? COST : 0) + 4 };
}

export const laneTop = (rows: Rows, lane: number): number => rows.lanes + lane * LANE;
export const laneAt = (rows: Rows, y: number): number => {
  const lane = Math.floor((y - rows.lanes) / LANE);
  return lane >= 0 && lane < KINDS.length ? lane : -1;
};
export const stripAt = (rows: Rows, y: number): number =>
  y >= rows.strips && y < rows.strips + STRIPS - 4
    ? Math.min(1, Math.floor((y - rows.strips) / ((STRIPS - 4) / 2)))
    : -1;

type Context = CanvasRenderingContext2D;

export function drawRuler(
  context: Context,
  scale: Scale,
  rows: Rows,
  palette: Palette,
  range: [number, number] | null,
): void {
  if (range) {
    context.fillStyle = palette.text;
    context.globalAlpha = 0.12;
    context.fillRect(scale.x(range[0]), 0, scale.x(range[1]) - scale.x(range[0]), rows.height);
    context.globalAlpha = 1;
    context.fillRect(scale.x(range[0]), 0, scale.x(range[1]) - scale.x(range[0]), 3);
  }
  for (const tick of ticksOf(scale)) {
    const x = Math.round(scale.x(tick));
    context.fillStyle = palette.line;
    context.fillRect(x, 4, 1, rows.height - 6);
    context.fillStyle = palette.label;
    context.fillText(`${Number(tick.toFixed(2))} s`, x + 4, 10);
  }
}

// A above, B below; the blend is the bracket over both, with handles to drag.
export function drawStrips(
  context: Context,
  scale: Scale,
  rows: Rows,
  palette: Palette,
  strips: [Strip, Strip],
  bracket: Bracket | null,
  fps: number,
): void {
  const tall = (STRIPS - 4) / 2;
  strips.forEach(({ text, colour, first, last }, n) => {
    const [x0, x1] = [scale.x(first / fps), scale.x(last / fps)];
    const y = rows.strips + n * tall;
    context.fillStyle = palette[colour];
    context.beginPath();
    context.roundRect(x0, y + 1, Math.max(1, x1 - x0), tall - 2, 3);
    context.fill();
    context.save();
    context.beginPath();
    context.rect(x0, y, x1 - x0, tall);
    context.clip();
    context.fillStyle = palette.panel;
    context.font = "600 10px system-ui, sans-serif";
    const width = bracket ? (n === 0 ? scale.x(bracket.first / fps) - x0 : x1 - scale.x(bracket.last / fps)) : x1 - x0;
    if (context.measureText(text).width + 12 < width)
      context.fillText(text, n === 0 ? x0 + 6 : x1 - 6 - context.measureText(text).width, y + tall / 2 + 0.5);
    context.restore();
  });
  if (!bracket) return;
  const [x0, x1] = [scale.x(bracket.first / fps), scale.x(bracket.last / fps)];
  const y = rows.strips - 1;
  const high = STRIPS - 2;
  context.fillStyle = palette.text;
  context.globalAlpha = 0.14;
  context.fillRect(x0, y, x1 - x0, rows.height - y);
  context.globalAlpha = 1;
  context.strokeStyle = palette.text;
  context.lineWidth = 2;
  context.strokeRect(x0, y, x1 - x0, high);
  for (const x of [x0, x1]) {
    context.beginPath();
    context.roundRect(x - 3, y + high / 2 - 7, 6, 14, 3);
    context.fill();
  }
}

export function drawLanes(context: Context, scale: Scale, rows: Rows, palette: Palette, motion: ShownMotion): void {
  KINDS.forEach((kind, n) => {
    const y = laneTop(rows, n);
    context.fillStyle = palette.label;
    context.fillText(NAMES[n], 4, y + LANE / 2);
    context.fillStyle = palette.lane;
    context.fillRect(GUTTER, y + 1, scale.x(scale.duration) - GUTTER, LANE - 2);
    for (const print of motion.prints) {
      if (print.kind !== kind) continue;
      const [x0, x1] = [
        scale.x(print.first / motion.fps),
        scale.x(Math.min((print.last + 1) / motion.fps, scale.duration)),
      ];
      const wide = Math.max(2, x1 - x0 - 1);
      context.fillStyle = print.slides ? palette.sliding : palette.planted;
      context.beginPath();
      context.roundRect(x0, y + 2, wide, LANE - 4, 3);
      context.fill();
      // Colour is not the only sign: a sliding plant is split by a line.
      if (print.slides) {
        context.fillStyle = palette.panel;
        context.fillRect(x0, y + LANE / 2 - 0.75, wide, 1.5);
      }
    }
  });
}

export function drawSpeeds(context: Context, scale: Scale, rows: Rows, palette: Palette, motion: ShownMotion): void {
  const { speeds, frames, fps } = motion;
  if (!speeds) return;
  const side =
    (first: number) =>
    (f: number): number =>
      Math.min(speeds[4 * f + first], speeds[4 * f + first + 1]);
  const most = Math.max(0.5, peak(frames, side(0)), peak(frames, side(2)));
  const box = { top: rows.speed + 3, tall: SPEED - 7 };
  axis(context, scale, palette, box, "foot speed", `${most.toFixed(1)} m/s`);
  context.strokeStyle = palette.text;
  curve(context, scale, box, frames, fps, (f) => side(0)(f) / most);
  context.setLineDash([4, 3]); // the right foot
  context.globalAlpha = 0.75;
  curve(context, scale, box, frames, fps, (f) => side(2)(f) / most);
  context.setLineDash([]);
  context.globalAlpha = 1;
}

export function drawCost(
  context: Context,
  scale: Scale,
  rows: Rows,
  palette: Palette,
  cost: Float32Array,
  fps: number,
): void {
  const most = Math.max(
    1e-3,
    peak(cost.length, (f) => cost[f]),
  );
  const box = { top: rows.cost + 3, tall: COST - 6 };
  axis(context, scale, palette, box, "A to B", `${(100 * most).toFixed(0)} cm`);
  context.strokeStyle = palette.warning;
  curve(context, scale, box, cost.length, fps, (f) => cost[f] / most);
}

function peak(frames: number, of: (frame: number) => number): number {
  let most = 0;
  for (let f = 0; f < frames; f++) if (of(f) > most) most = of(f);
  return most;
}

function axis(
  context: Context,
  scale: Scale,
  palette: Palette,
  box: { top: number; tall: number },
  name: string,
  most: string,
): void {
  context.fillStyle = palette.label;
  context.fillText(name, 4, box.top + box.tall / 2 - 6);
  context.font = "10px system-ui, sans-serif";
  context.fillText(most, 4, box.top + box.tall / 2 + 6);
  context.font = FONT;
  context.fillStyle = palette.lane;
  context.fillRect(GUTTER, box.top, scale.x(scale.duration) - GUTTER, box.tall);
}

export const FONT = "11px system-ui, sans-serif";

// The highest value of every pixel: a spike of one frame is seen in any clip.
function curve(
  context: Context,
  scale: Scale,
  box: { top: number; tall: number },
  frames: number,
  fps: number,
  of: (frame: number) => number,
): void {
  const step = Math.max(1, Math.floor(frames / Math.max(scale.x(scale.duration) - GUTTER, 1)));
  context.lineWidth = 1.5;
  context.beginPath();
  let open = false;
  for (let f = 0; f < frames; f += step) {
    let value = of(f);
    for (let more = 1; more < step && f + more < frames; more++) value = Math.max(value, of(f + more));
    if (!Number.isFinite(value)) {
      open = false;
      continue;
    }
    const [x, y] = [scale.x(f / fps), box.top + box.tall - 1 - (box.tall - 2) * Math.min(value, 1)];
    if (open) context.lineTo(x, y);
    else context.moveTo(x, y);
    open = true;
  }
  context.stroke();
}
