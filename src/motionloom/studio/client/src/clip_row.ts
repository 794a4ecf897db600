// A clip in the library: a small moving figure, its name and facts, buttons for A and B.

import { make } from "./dom";
import type { Facts, Item, Looks } from "./messages";

const PREVIEW = 44; // pixels
const FILL = 0.88; // of the square that the figure may fill

export interface Preview {
  looks: Looks;
  points: Float32Array;
  frames: number;
}

export interface RowActions {
  choose(slot: "a" | "b" | null): void;
  // The focus on this row; `step` rows further.
  move(step: number | "first" | "last"): void;
}

export class ClipRow {
  readonly element: HTMLElement;
  preview: Preview | null = null;
  requested = false;
  inSight = false;
  private readonly canvas = make("canvas", {
    class: "preview",
    attrs: { width: String(2 * PREVIEW), height: String(2 * PREVIEW), "aria-hidden": "true" },
  });
  private readonly about = make("span", { class: "about" });
  private readonly badge = make("span", { class: "badge" });
  private drawn = "";

  constructor(
    readonly item: Item,
    private readonly actions: RowActions,
  ) {
    const slot = (name: "a" | "b"): HTMLElement =>
      make(
        "button",
        {
          class: `slot ${name}`,
          title: `use as ${name.toUpperCase()} (${name.toUpperCase()})`,
          attrs: { type: "button", tabindex: "-1" },
          on: {
            click: (event) => {
              event.stopPropagation();
              actions.choose(name);
            },
          },
        },
        name.toUpperCase(),
      );
    this.element = make(
      "div",
      {
        class: "clip",
        attrs: { role: "row", tabindex: "-1", "data-clip": item.id, "aria-label": item.name },
        on: {
          click: () => actions.choose(null),
          keydown: (event) => this.press(event),
        },
      },
      this.canvas,
      make(
        "div",
        { class: "clip-words", attrs: { role: "gridcell" } },
        make("span", { class: "clip-name", title: item.name }, item.name),
        this.about,
        this.badge,
      ),
      make("div", { class: "slots", attrs: { role: "gridcell" } }, slot("a"), slot("b")),
    );
  }

  report({ frames, fps, joints, badge, verdict }: Facts): void {
    this.about.textContent = `${(frames / fps).toFixed(1)} s · ${joints} joints`;
    this.badge.textContent = badge;
    this.badge.className = `badge ${verdict}`;
  }

  fail(text: string): void {
    this.about.textContent = text;
    this.badge.className = "badge bad";
  }

  // The file changed: what was read is out of date.
  forget(): void {
    [this.preview, this.requested, this.drawn] = [null, false, ""];
  }

  draw(beat: number, still: boolean, colour: string): void {
    if (!this.preview || !this.inSight) return;
    const frame = still ? 0 : beat % this.preview.frames;
    const now = `${frame} ${colour}`;
    if (now === this.drawn) return;
    this.drawn = now;
    drawFigure(this.canvas, this.preview, frame, colour);
  }

  private press(event: KeyboardEvent): void {
    // A row that was clicked has the focus, too: then keys are for the timeline.
    if (event.ctrlKey || event.metaKey || event.altKey || !this.element.matches(":focus-visible")) return;
    const keys: Record<string, () => void> = {
      Enter: () => this.actions.choose(null),
      a: () => this.actions.choose("a"),
      b: () => this.actions.choose("b"),
      ArrowDown: () => this.actions.move(1),
      ArrowUp: () => this.actions.move(-1),
      PageDown: () => this.actions.move(8),
      PageUp: () => this.actions.move(-8),
      Home: () => this.actions.move("first"),
      End: () => this.actions.move("last"),
    };
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation(); // the timeline has the same keys
    act();
  }
}

// The figure in the middle of its square: some files have a root that stays behind while the body walks.
function drawFigure(canvas: HTMLCanvasElement, { looks, points }: Preview, frame: number, colour: string): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const from = 3 * looks.points * frame;
  const [s, c] = [Math.sin(looks.heading - 0.9), Math.cos(looks.heading - 0.9)];
  const spots = Array.from({ length: looks.points }, (_, p): [number, number] => {
    const [x, y, z] = points.subarray(from + 3 * p, from + 3 * p + 3);
    return [x * c - z * s, y];
  });
  const used = [...new Set(looks.parts.flatMap((part) => part.points))].map((p) => spots[p]);
  const [left, right] = rangeOf(used.map(([x]) => x));
  const [low, high] = rangeOf(used.map(([, y]) => y));
  // As tall as the body stands, smaller only if it leaves its square: over stairs, or lying.
  const scale = (FILL * 2 * PREVIEW) / Math.max(looks.height, high - low, 0.9 * (right - left), 1e-6);
  const floor =
    low >= looks.floor - 0.1 * looks.height && high <= looks.floor + 1.15 * looks.height ? looks.floor : low;
  const at = (p: number): [number, number] => [
    PREVIEW + scale * (spots[p][0] - (left + right) / 2),
    1.92 * PREVIEW - scale * (spots[p][1] - floor),
  ];
  context.clearRect(0, 0, 2 * PREVIEW, 2 * PREVIEW);
  context.strokeStyle = colour;
  context.lineCap = "round";
  for (const part of looks.parts) {
    for (let i = 0; i + 1 < part.points.length; i++) {
      context.lineWidth = Math.max(2, scale * (part.radii[i] + part.radii[i + 1]) * 0.9);
      context.beginPath();
      context.moveTo(...at(part.points[i]));
      context.lineTo(...at(part.points[i + 1]));
      context.stroke();
    }
  }
}

function rangeOf(values: number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}
