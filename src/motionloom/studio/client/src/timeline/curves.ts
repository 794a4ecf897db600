// Foot speeds under the lanes, on the same time axis.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { make } from "../dom";
import type { Tools } from "../panel";
import { madeNow, type Made } from "../store";
import { paletteOf } from "../theme";

const HEIGHT = 78;

export function mountCurves(within: HTMLElement, { store }: Tools): void {
  const box = make("div", { class: "curves" });
  within.append(box);
  let plot: uPlot | null = null;

  function draw(made: Made | null): void {
    plot?.destroy();
    plot = null;
    const speeds = made?.motion.speeds;
    if (!made || !speeds) return;
    const { frames, fps } = made.motion;
    const times = Array.from({ length: frames }, (_, f) => f / fps);
    const lowest = (side: number): number[] =>
      times.map((_, f) => Math.min(speeds[4 * f + 2 * side], speeds[4 * f + 2 * side + 1]));
    const palette = paletteOf();
    const axis = { stroke: palette.label, font: "10px system-ui", grid: { stroke: palette.line, width: 1 }, ticks: { show: false } };
    plot = new uPlot(
      {
        width: box.clientWidth, height: HEIGHT, padding: [4, 8, 8, 0], legend: { show: false },
        cursor: { show: false }, scales: { x: { time: false } },
        axes: [{ ...axis, show: false }, { ...axis, size: 64, splits: (_u, _a, _min, max) => [0, max / 2], values: (_u, v) => v.map((s) => `${s.toFixed(1)} m/s`) }],
        series: [{}, { stroke: palette.planted, width: 1.5, label: "left foot" }, { stroke: palette.warning, width: 1.5, dash: [4, 3], label: "right foot" }],
      },
      [times, lowest(0), lowest(1)],
      box,
    );
  }

  store.listen((project, scene, before) => {
    if (scene.made !== before.scene.made || project.room !== before.project.room ||
      project.view.theme !== before.project.view.theme) draw(madeNow(store));
  });
  new ResizeObserver(() => plot?.setSize({ width: box.clientWidth, height: HEIGHT })).observe(box);
}
