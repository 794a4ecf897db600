// A live character: it plays without end, and a key sends it to a label.

import { button, make, replace } from "../../dom";
import { Cancelled } from "../../faults";
import type { ShownMotion } from "../../motion";
import type { Tools } from "../../panel";
import type { Place } from "../../table_messages";
import type { TableModel } from "./model";

const MOST_STEP = 8; // frames: after a pause it goes on, it does not catch up

export interface LiveView {
  element: HTMLElement;
  draw(): void;
  start(): void;
  stop(): void;
}

export function liveView({ store, api, clock }: Tools, model: TableModel, from: () => Place | null): LiveView {
  const goals = make("div", { class: "goals" });
  const status = make("p", { class: "quiet" });
  const element = make("div", { class: "live-panel" }, goals, status);
  let live: number | null = null;
  let shown = "";
  let going = "";
  let failed = "";
  let starts = 0; // an answer to a start before the last one is too late

  async function start(): Promise<void> {
    const source = from();
    // A start that failed is not repeated until another clip or frame is chosen.
    if (live !== null || !source || failed === JSON.stringify(source)) return;
    live = -1;
    const own = ++starts;
    try {
      const { body } = await api.ask("stream.start", { source });
      if (live !== -1 || own !== starts) return void api.ask("stream.stop", { live: body.live });
      live = body.live;
      draw();
      const motion: ShownMotion = {
        name: "live",
        frames: 1,
        fps: body.fps,
        looks: body.looks,
        prints: [],
        points: new Float32Array(3 * body.looks.points),
        planted: new Uint8Array(4),
        speeds: null,
        com: null,
        zmp: null,
        support: null,
        skin: null,
        poses: null,
      };
      await step(motion, 1);
      if (live !== body.live) return; // stopped meanwhile: no body stays on the stage
      store.show({ live: motion });
      store.heal("stream");
      if (!clock.playing) clock.toggle();
      void run(motion, live);
    } catch (error) {
      if (own !== starts) return;
      live = null;
      failed = JSON.stringify(source);
      draw();
      if (!(error instanceof Cancelled)) store.fail("stream", error);
    }
  }

  async function step(motion: ShownMotion, frames: number): Promise<void> {
    const pose = await api.streamStep(live!, frames);
    motion.points.set(pose.points);
    for (let k = 0; k < 4; k++) motion.planted![k] = (pose.planted >> k) & 1;
  }

  async function run(motion: ShownMotion, own: number): Promise<void> {
    let then = performance.now(),
      owed = 0;
    while (live === own) {
      const now = await new Promise<number>((done) => requestAnimationFrame(done));
      owed = Math.min(owed + ((now - then) / 1000) * motion.fps * (clock.playing ? 1 : 0), MOST_STEP);
      then = now;
      if (owed < 1 || live !== own) continue;
      const frames = Math.floor(owed);
      owed -= frames;
      try {
        await step(motion, frames);
      } catch {
        stop(); // the server has ended, or another table was built
      }
    }
  }

  function stop(): void {
    failed = "";
    if (live === null) return; // a live blend is not stopped here
    if (live >= 0) void api.ask("stream.stop", { live }).catch(() => undefined);
    live = null;
    going = "";
    if (store.scene.live) store.show({ live: null });
    draw();
  }

  async function go(goal: string): Promise<void> {
    if (live === null || live < 0) return;
    going = goal;
    draw();
    try {
      await api.ask("stream.go", { live, goal });
      store.heal("stream");
    } catch (error) {
      going = "";
      draw();
      store.fail("stream", error);
    }
  }

  // In front of the tabs: a digit goes to a label while the character is live.
  window.addEventListener(
    "keydown",
    (event) => {
      const on = event.target as HTMLElement;
      const goal = model.facts?.goals[Number(event.key) - 1];
      if (live === null || store.project.room !== "table" || !goal || event.ctrlKey || event.metaKey) return;
      if (on.closest?.("input:not([type=range]):not([type=checkbox]), textarea, select")) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      void go(goal);
    },
    true,
  );

  function draw(): void {
    const names = model.facts?.goals ?? [];
    const now = JSON.stringify([names, going, live === null]);
    status.textContent = live === null ? "" : going ? `going to ${going}` : "playing from A";
    if (now === shown) return;
    shown = now;
    replace(
      goals,
      ...names.map((name, k) => {
        const each = button(k < 9 ? `${k + 1}  ${name}` : name, `go to ${name}`, () => void go(name), "small goal");
        each.setAttribute("aria-pressed", String(name === going));
        if (live === null) each.disabled = true;
        else if (model.isShortGoal(name)) {
          each.disabled = true;
          each.title = `${name} is shorter than the table's window of ${model.window} frames`;
        }
        return each;
      }),
    );
  }

  return { element, draw, start: () => void start(), stop };
}
