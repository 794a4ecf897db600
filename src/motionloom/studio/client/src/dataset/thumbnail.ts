// A clip in a strip of poses; under the pointer it moves.

import { stillWanted } from "../clock";
import { make } from "../dom";
import { paletteOf } from "../theme";
import type { Clip, Dataset } from "./dataset_data";

const WIDTH = 208;
const HEIGHT = 60;
const SHOWN = 5; // poses of the strip
const FULL = 255; // of a coordinate
const STEP_MS = 110;

interface Drawing {
  canvas: HTMLCanvasElement;
  bones: [number, number][];
  head: number | null;
  poses: Uint8Array;
  points: number;
}

export class Thumbnails {
  private readonly drawings = new Map<Element, Drawing>();
  private readonly seen: IntersectionObserver;

  constructor(private readonly data: Dataset) {
    this.seen = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          const drawing = this.drawings.get(entry.target);
          if (entry.isIntersecting && drawing) strip(drawing);
        }
      },
      { rootMargin: "300px" },
    );
  }

  // The strip of a clip, drawn when it comes into view; an empty box for a clip without poses.
  of(clip: Clip): HTMLElement {
    if (clip.poses === undefined || clip.skeleton === undefined) return make("div", { class: "no-thumb" });
    const canvas = make("canvas", { class: "thumb", attrs: { role: "img", "aria-label": `poses of ${clip.file}` } });
    const scale = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = WIDTH * scale;
    canvas.height = HEIGHT * scale;
    const poses = Uint8Array.from(atob(clip.poses), (letter) => letter.charCodeAt(0));
    const { bones, head } = this.data.skeletons[clip.skeleton];
    const points = Math.max(...bones.flat(), 0) + 1;
    const drawing = { canvas, bones, head, poses, points };
    this.drawings.set(canvas, drawing);
    this.seen.observe(canvas);
    canvas.addEventListener("pointerenter", () => play(drawing));
    return canvas;
  }

  forget(): void {
    this.seen.disconnect();
    this.drawings.clear();
  }

  redraw(): void {
    for (const drawing of this.drawings.values()) strip(drawing);
  }
}

function count(drawing: Drawing): number {
  return Math.floor(drawing.poses.length / (2 * drawing.points));
}

function strip(drawing: Drawing): void {
  const context = cleared(drawing);
  const poses = count(drawing);
  for (let n = 0; n < SHOWN; n++) {
    pose(context, drawing, Math.round((n * (poses - 1)) / (SHOWN - 1)), (n + 0.5) / SHOWN, n === SHOWN - 1);
  }
}

function play(drawing: Drawing): void {
  if (stillWanted()) return;
  const poses = count(drawing);
  let n = 0;
  const step = () => {
    if (!drawing.canvas.isConnected || n >= 2 * poses || !drawing.canvas.matches(":hover")) {
      strip(drawing);
      return;
    }
    pose(cleared(drawing), drawing, n % poses, 0.5, true);
    n += 1;
    window.setTimeout(step, STEP_MS);
  };
  step();
}

function cleared(drawing: Drawing): CanvasRenderingContext2D {
  const context = drawing.canvas.getContext("2d")!;
  context.clearRect(0, 0, drawing.canvas.width, drawing.canvas.height);
  return context;
}

// One pose with its feet on the lower edge; middle is a part of the width.
function pose(context: CanvasRenderingContext2D, drawing: Drawing, n: number, middle: number, dark: boolean): void {
  const { canvas, poses, points, bones, head } = drawing;
  const palette = paletteOf();
  const size = canvas.height * 0.9;
  const left = middle * canvas.width - 0.5 * size;
  const x = (point: number) => left + (size * poses[2 * (n * points + point)]) / FULL;
  const y = (point: number) => 0.97 * canvas.height - (size * poses[2 * (n * points + point) + 1]) / FULL;
  context.strokeStyle = context.fillStyle = dark ? palette.ink : palette.label;
  context.globalAlpha = dark ? 1 : 0.75;
  context.lineWidth = canvas.height / 34;
  context.lineCap = "round";
  context.beginPath();
  for (const [a, b] of bones) {
    context.moveTo(x(a), y(a));
    context.lineTo(x(b), y(b));
  }
  context.stroke();
  if (head !== null) {
    context.beginPath();
    context.arc(x(head), y(head), canvas.height / 22, 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
}
