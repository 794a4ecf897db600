// Strips of A and B with the blend between them, and the four contact lanes; scrubbed by dragging.

import { make } from "../dom";
import type { Tools } from "../panel";
import { KINDS, type ShownMotion } from "../motion";
import { madeNow, type Made } from "../store";
import { paletteOf } from "../theme";

const LABEL = 64; // pixels left of the lanes
const RULER = 16;
const STRIP = 18;
const LANE = 13;
const NAMES = ["L heel", "L toe", "R heel", "R toe"];
export const LANES_HEIGHT = RULER + STRIP + 4 + KINDS.length * (LANE + 2) + 2;

export function mountLanes(within: HTMLElement, { store, clock }: Tools): void {
  const canvas = make("canvas", { class: "lanes", attrs: { "aria-label": "timeline" } });
  const head = make("div", { class: "playhead" });
  const box = make("div", { class: "lanes-box" }, canvas, head);
  within.append(box);
  let width = 0;

  const xOf = (time: number): number => LABEL + (time / Math.max(clock.duration, 1e-6)) * (width - LABEL - 8);
  const timeOf = (x: number): number => ((x - LABEL) / (width - LABEL - 8)) * clock.duration;

  function motion(): ShownMotion | null {
    const made = madeNow(store);
    if (made) return made.motion;
    const { a, b } = store.project;
    return (a && store.scene.clips[a]) || (b && store.scene.clips[b]) || null;
  }

  function draw(): void {
    const scale = devicePixelRatio;
    width = box.clientWidth;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(LANES_HEIGHT * scale);
    const context = canvas.getContext("2d");
    const shown = motion();
    if (!context) return;
    context.scale(scale, scale);
    context.clearRect(0, 0, width, LANES_HEIGHT);
    if (!shown) return;
    const palette = paletteOf();
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    context.fillStyle = palette.label;
    for (let second = 0; second <= clock.duration; second++) {
      const x = xOf(second);
      context.fillRect(x, 10, 1, 5);
      context.fillText(`${second}`, x + 3, 7);
    }
    drawStrips(context, madeNow(store));
    KINDS.forEach((_, k) => {
      const y = RULER + STRIP + 4 + k * (LANE + 2);
      context.fillStyle = palette.label;
      context.fillText(NAMES[k], 4, y + LANE / 2);
      context.fillStyle = palette.lane;
      context.fillRect(LABEL, y, width - LABEL - 8, LANE);
      for (const print of shown.prints) {
        if (print.kind !== KINDS[k]) continue;
        const [x0, x1] = [xOf(print.first / shown.fps), xOf((print.last + 1) / shown.fps)];
        context.fillStyle = print.slides ? palette.sliding : palette.planted;
        context.beginPath();
        context.roundRect(x0, y + 1.5, Math.max(2, x1 - x0), LANE - 3, 3);
        context.fill();
      }
    });
  }

  // A until the blend is over, B from where it begins; the blend is the bracket over both.
  function drawStrips(context: CanvasRenderingContext2D, made: Made | null): void {
    if (made?.answer.detail.room !== "transition") return;
    const palette = paletteOf();
    const fps = made.motion.fps;
    const [first, last] = made.answer.detail.span.map((frame) => xOf(frame / fps));
    const y = RULER;
    context.fillStyle = palette.amber;
    context.fillRect(LABEL, y + 3, last - LABEL, STRIP / 2 - 3);
    context.fillStyle = palette.blue;
    context.fillRect(first, y + STRIP / 2 + 1, width - 8 - first, STRIP / 2 - 3);
    context.strokeStyle = palette.text;
    context.lineWidth = 1.5;
    context.strokeRect(first, y + 1, last - first, STRIP - 2);
    context.fillStyle = palette.label;
    context.fillText("A to B", 4, y + STRIP / 2);
  }

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const from = timeOf(event.offsetX);
    const ruler = event.offsetY < RULER;
    clock.playing = ruler && clock.playing;
    clock.seek(from);
    const move = (moved: PointerEvent): void => {
      const to = timeOf(moved.offsetX);
      if (ruler && Math.abs(to - from) > 0.05) {
        clock.range = [Math.max(0, Math.min(from, to)), Math.min(clock.duration, Math.max(from, to))];
      } else clock.seek(to);
    };
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", () => canvas.removeEventListener("pointermove", move), { once: true });
  });

  store.listen((project, scene, before) => {
    if (scene.made !== before.scene.made || scene.clips !== before.scene.clips || project !== before.project) {
      requestAnimationFrame(draw);
    }
  });
  new ResizeObserver(draw).observe(box);
  let left = -1;
  clock.onTick((time) => {
    const x = Math.round(2 * xOf(time)) / 2;
    if (x !== left) head.style.transform = `translateX(${(left = x)}px)`;
  });
}
