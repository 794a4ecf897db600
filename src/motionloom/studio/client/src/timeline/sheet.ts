// The timeline as one canvas with a playhead: scrubbed, looped and edited by hand. It does not use the store:
// the caller decides what an edit means.

import type { Clock } from "../clock";
import { make } from "../dom";
import type { Print } from "../messages";
import { KINDS } from "../motion";
import type { Palette } from "../theme";
import {
  type Bracket,
  type Content,
  drawCost,
  drawLanes,
  drawRuler,
  drawSpeeds,
  drawStrips,
  FONT,
  laneAt,
  RULER,
  rowsOf,
  stripAt,
} from "./rows";
import { GUTTER, type Scale, scaleOf } from "./scale";

const GRIP = 6; // pixels around an edge
const SMALLEST_RANGE = 4; // pixels

type Drag = (frame: number) => void; // to a fractional frame of the shown motion

export interface Edits {
  // The blend where it is dragged to; its strips shifted against each other by some frames.
  bracket?: { set(next: Bracket): void; slip(strip: 0 | 1, frames: number): void };
  // Begin to drag an end of a plant; null where it cannot be moved.
  plants?: {
    hold(print: Print, end: "first" | "last"): Drag | null;
    remove(print: Print): void;
    add(kind: string, frame: number): void;
  };
  release?(): void;
  // Whether the result of the last edit is still missing.
  pending?(): boolean;
}

interface Held {
  cursor: string;
  about: string;
  begin(frame: number): Drag | null;
}

export class Sheet {
  readonly canvas = make("canvas", { attrs: { tabindex: "0", role: "slider", "aria-label": "timeline" } });
  readonly element: HTMLElement;
  private content: Content | null = null;
  private edits: Edits = {};
  private scale: Scale = scaleOf(1, 1);
  private held: Scale | null = null; // as it was when the drag began: the result may get longer during it
  private dragged: Bracket | null = null; // where the bracket is dragged to, until the result arrives
  private edge: number | null = null; // frame of the dragged edge
  private drawn = "";

  constructor(
    private readonly clock: Clock,
    private readonly palette: () => Palette,
    kind: string,
  ) {
    this.canvas.className = kind;
    const head = make("div", { class: "playhead" });
    this.element = make("div", { class: "sheet" }, this.canvas, head);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.element);
    clock.onTick((time) => {
      const x = Math.round(2 * this.scale.x(time)) / 2;
      const now = `${x} ${clock.duration} ${clock.range}`;
      if (now === this.drawn) return;
      if (this.scale.duration !== clock.duration || !this.drawn.endsWith(` ${clock.range}`)) this.draw();
      this.drawn = now;
      head.style.transform = `translateX(${Math.round(2 * this.scale.x(time)) / 2}px)`;
      if (this.content) this.canvas.setAttribute("aria-valuenow", String(Math.round(time * this.content.motion.fps)));
    });
  }

  show(content: Content | null, edits: Edits = {}): void {
    if (content?.motion !== this.content?.motion && !this.held) this.dragged = null;
    this.content = content;
    this.element.classList.toggle("empty", !content);
    this.edits = edits;
    this.canvas.setAttribute("aria-valuemax", String((content?.motion.frames ?? 1) - 1));
    this.draw();
  }

  draw(): void {
    const rows = rowsOf(this.content);
    const width = this.element.clientWidth;
    const ratio = devicePixelRatio;
    this.canvas.style.height = `${rows.height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(rows.height * ratio);
    this.scale = scaleOf(width, this.clock.duration);
    const context = this.canvas.getContext("2d");
    if (!context || !this.content) return;
    const { scale, content } = this;
    const palette = this.palette();
    const { motion } = content;
    context.scale(ratio, ratio);
    context.font = FONT;
    context.textBaseline = "middle";
    drawRuler(context, scale, rows, palette, this.clock.range);
    drawLanes(context, scale, rows, palette, motion);
    drawSpeeds(context, scale, rows, palette, motion);
    if (content.cost) drawCost(context, scale, rows, palette, content.cost, motion.fps);
    context.font = FONT;
    if (content.strips)
      drawStrips(context, scale, rows, palette, content.strips, this.dragged ?? content.bracket, motion.fps);
    if (this.edge !== null) {
      context.fillStyle = palette.text;
      context.fillRect(scale.x(this.edge / motion.fps) - 1, rows.lanes, 2, rows.speed - rows.lanes);
    }
  }

  private frameAt(x: number): number {
    return (this.held ?? this.scale).seconds(x) * (this.content?.motion.fps ?? 1);
  }

  // What is under a spot, if it can be dragged.
  private under(x: number, y: number): Held | null {
    const { content, edits, scale } = this;
    if (!content) return null;
    const rows = rowsOf(content);
    const { fps } = content.motion;
    const near = (frame: number): boolean => Math.abs(scale.x(frame / fps) - x) <= GRIP;
    if (content.bracket && edits.bracket && stripAt(rows, y) >= 0)
      return this.underStrip(content.bracket, edits.bracket, stripAt(rows, y) as 0 | 1, x, near);
    const lane = laneAt(rows, y);
    if (lane < 0 || !edits.plants) return null;
    for (const print of content.motion.prints) {
      if (print.kind !== KINDS[lane]) continue;
      for (const end of ["first", "last"] as const) {
        if (!near(end === "first" ? print.first : print.last + 1)) continue;
        return {
          cursor: "ew-resize",
          about: "drag: when the foot comes down or leaves; double click takes the plant away",
          begin: () => {
            const drag = edits.plants!.hold(print, end);
            return (
              drag &&
              ((frame) => {
                this.edge = frame;
                drag(end === "first" ? frame : frame - 1);
                this.draw();
              })
            );
          },
        };
      }
    }
    return null;
  }

  private underStrip(
    bracket: Bracket,
    edits: NonNullable<Edits["bracket"]>,
    strip: 0 | 1,
    x: number,
    near: (frame: number) => boolean,
  ): Held {
    const { first, last } = bracket;
    const set = (next: Bracket): void => {
      this.dragged = next;
      edits.set(next);
      this.draw();
    };
    if (near(first))
      return {
        cursor: "ew-resize",
        about: "drag: where the blend begins",
        begin: () => (frame) => set({ first: Math.min(Math.round(frame), last - 2), last }),
      };
    if (near(last))
      return {
        cursor: "ew-resize",
        about: "drag: where the blend ends",
        begin: () => (frame) => set({ first, last: Math.max(Math.round(frame), first + 2) }),
      };
    const at = this.frameAt(x);
    if (at > first && at < last) {
      return {
        cursor: "grab",
        about: "drag: the blend earlier or later",
        begin: (from) => (frame) => {
          const moved = Math.round(frame - from);
          set({ first: first + moved, last: last + moved });
        },
      };
    }
    return {
      cursor: "grab",
      about: "drag: this clip against the other",
      begin: (from) => (frame) => edits.slip(strip, Math.round(frame - from)),
    };
  }

  private listen(): void {
    let drag: Drag | null = null;
    let ranging: number | null = null;
    const { canvas, clock } = this;
    const spot = (event: PointerEvent | MouseEvent): [number, number] => {
      const box = canvas.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const scrub: Drag = (frame) => clock.seek(frame / (this.content?.motion.fps ?? 1));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      const [x, y] = spot(event);
      this.held = this.scale;
      if (y < RULER) {
        ranging = x;
        clock.seek(this.scale.seconds(x));
        return;
      }
      drag = this.under(x, y)?.begin(this.frameAt(x)) ?? null;
      if (drag) return;
      drag = scrub;
      clock.playing = false;
      scrub(this.frameAt(x));
    });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = spot(event);
      if (ranging !== null) {
        if (Math.abs(x - ranging) < SMALLEST_RANGE) return;
        clock.range = [this.scale.seconds(Math.min(ranging, x)), this.scale.seconds(Math.max(ranging, x))];
      } else if (drag) drag(this.frameAt(x));
      else {
        const held = y < RULER ? null : this.under(x, y);
        canvas.style.cursor = held?.cursor ?? (x < GUTTER ? "default" : "col-resize");
        canvas.title = held?.about ?? (y < RULER ? "drag: the part to loop; double click: all of it" : "");
      }
    });
    const release = (): void => {
      const edited = drag !== null && drag !== scrub;
      [drag, ranging, this.held, this.edge] = [null, null, null, null];
      if (!edited) return;
      this.edits.release?.();
      if (!this.edits.pending?.()) this.dragged = null;
      this.draw();
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("dblclick", (event) => {
      const [x, y] = spot(event);
      const lane = laneAt(rowsOf(this.content), y);
      if (y < RULER) clock.range = null;
      else if (lane >= 0 && this.content && this.edits.plants) {
        const frame = this.frameAt(x);
        const print = this.content.motion.prints.find(
          ({ kind, first, last }) => kind === KINDS[lane] && first - 1 <= frame && frame <= last + 2,
        );
        if (print) this.edits.plants.remove(print);
        else this.edits.plants.add(KINDS[lane], frame);
      }
    });
  }
}
