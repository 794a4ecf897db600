// The matrix of representatives: from each (downwards) to each (to the right), light is natural.

import { make } from "../../dom";
import type { Place, TableDetail } from "../../messages";
import type { Store, TableMatrixData } from "../../store";
import { magma } from "../heat";
import { windowOf } from "./tables";

export interface MatrixView {
  element: HTMLElement;
  draw(taken: TableDetail | null, away: boolean): void;
}

export function matrixView(store: Store, pick: (source: Place, target: Place) => void): MatrixView {
  const canvas = make("canvas", { class: "grid", attrs: { "aria-label": "transitions between representatives" } });
  const cellText = make("output", { class: "matrix-cell quiet" });
  const box = make("div", { class: "grid-box" }, canvas);
  const element = make(
    "section",
    { class: "panel-left" },
    make("h3", {}, "from ↓ to →; light is natural"),
    box,
    cellText,
  );
  let last: [TableDetail | null, boolean] = [null, false];

  function cellAt(event: MouseEvent): [number, number] | null {
    const n = store.scene.table.matrix?.places.length ?? 0;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    if (!n || !width) return null;
    const [row, column] = [
      Math.floor(((event.clientY - top) / height) * n),
      Math.floor(((event.clientX - left) / width) * n),
    ];
    return row >= 0 && column >= 0 && row < n && column < n ? [row, column] : null;
  }

  canvas.addEventListener("mousemove", (event) => {
    const cell = cellAt(event);
    cellText.textContent = cell && store.scene.table.matrix ? words(store.scene.table.matrix, ...cell) : "";
  });
  canvas.addEventListener("mouseleave", () => {
    cellText.textContent = "";
  });
  canvas.addEventListener("click", (event) => {
    const cell = cellAt(event);
    if (!cell || !store.scene.table.matrix) return;
    const [source, target] = cell.map((k) => store.scene.table.matrix!.places[k]);
    // A source is left at its window's first frame, a target reached at its last.
    pick(source, [target[0], target[1] + windowOf(store) - 1]);
  });

  function draw(taken: TableDetail | null, away: boolean): void {
    last = [taken, away];
    element.hidden = !store.scene.table.matrix || away;
    if (store.scene.table.matrix && box.clientWidth) paint(canvas, store.scene.table.matrix, windowOf(store), taken);
  }
  new ResizeObserver(() => draw(...last)).observe(box);
  return { element, draw };
}

function words(matrix: TableMatrixData, row: number, column: number): string {
  const n = matrix.places.length;
  const [[from, leave], [to, enter]] = [matrix.places[row], matrix.places[column]];
  const cost = matrix.costs[row * n + column];
  const worth = matrix.natural
    ? `${(100 * matrix.natural[row * n + column]).toFixed(0)} % natural`
    : `costs ${cost.toFixed(1)} in`;
  return `${from} ${leave} → ${to} ${enter}: ${Number.isFinite(cost) ? worth : "no recipe"}`;
}

function paint(canvas: HTMLCanvasElement, matrix: TableMatrixData, length: number, taken: TableDetail | null): void {
  const n = matrix.places.length;
  const { clientWidth, clientHeight } = canvas.parentElement!;
  const side = Math.min(clientWidth, clientHeight);
  Object.assign(canvas.style, { width: `${side}px`, height: `${side}px` });
  canvas.width = canvas.height = Math.max(n, Math.round(side * devicePixelRatio));
  const context = canvas.getContext("2d");
  if (!context) return;
  const sorted = Float32Array.from(matrix.costs).filter(Number.isFinite).sort();
  const [low, high] = [sorted[0] ?? 0, sorted[Math.floor(0.98 * (sorted.length - 1))] ?? 1];
  const image = new ImageData(n, n);
  for (let k = 0; k < n * n; k++) {
    // The scale ends at a high percentile: otherwise most pairs would be one dark field.
    const amount = 1 - (matrix.costs[k] - low) / Math.max(high - low, 1e-9);
    const [r, g, b] = Number.isFinite(matrix.costs[k]) ? magma(amount) : [90, 90, 90];
    image.data.set([r, g, b, 255], 4 * k);
  }
  const small = new OffscreenCanvas(n, n);
  small.getContext("2d")!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, canvas.width, canvas.height);
  const cell = canvas.width / n;
  mark(context, matrix, length, taken, cell);
}

// The requested pair: the representatives of the same clips that are nearest in time.
function mark(
  context: CanvasRenderingContext2D,
  matrix: TableMatrixData,
  length: number,
  taken: TableDetail | null,
  cell: number,
): void {
  if (!taken?.source || !taken.target) return;
  const near = ([clip, frame]: Place): number => {
    const apart = matrix.places.map(([own, at]) => (own === clip ? Math.abs(at - frame) : Infinity));
    const best = Math.min(...apart);
    return best < Infinity ? apart.indexOf(best) : -1;
  };
  const row = near(taken.source),
    column = near([taken.target[0], taken.target[1] - length + 1]);
  if (row < 0 || column < 0) return;
  for (const [thick, colour] of [
    [4, "#1a1d24"],
    [2, "#ffffff"],
  ] as const) {
    context.lineWidth = thick;
    context.strokeStyle = colour;
    context.strokeRect(column * cell - 1, row * cell - 1, cell + 2, cell + 2);
  }
}
