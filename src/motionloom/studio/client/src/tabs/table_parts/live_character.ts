// A live character: it plays without end, and a key sends it to a goal.

import { button, make, replace } from "../../dom";
import { Cancelled } from "../../faults";
import type { Place } from "../../messages";
import { liveMotion, type ShownMotion, takePose } from "../../motion";
import type { Tools } from "../../tools";
import { changeTable, factsOf, isShortGoal, windowOf } from "./tables";

const MOST_STEP = 8; // frames: after a pause it continues and does not catch up

export interface LiveView {
  element: HTMLElement;
  draw(): void;
  start(): void;
  stop(): void;
}

export function liveView(tools: Tools, from: () => Place | null): LiveView {
  const { store, api, clock } = tools;
  const goals = make("div", { class: "goals" });
  const status = make("p", { class: "quiet" });
  const element = make("div", { class: "live-panel" }, goals, status);
  let failed = ""; // place of a start that failed: it is not repeated
  let starts = 0; // answers to earlier starts are ignored
  let drawn = "";

  const character = () => store.scene.table.character;
  const isLive = (live: number): boolean => character()?.live === live;

  async function start(): Promise<void> {
    const source = from();
    if (character() || !source || failed === JSON.stringify(source)) return;
    const own = ++starts;
    changeTable(tools, { character: { live: null, goal: "" } });
    try {
      const { body } = await api.ask("stream.start", { source });
      if (own !== starts) return void api.ask("stream.stop", { live: body.live });
      const { live } = body;
      changeTable(tools, { character: { live, goal: "" } });
      const motion = liveMotion(body);
      takePose(motion, await api.streamStep(live, 1));
      if (!isLive(live)) return; // stopped since: no body stays on the stage
      store.show({ live: motion });
      store.clear("stream");
      if (!clock.playing) clock.toggle();
      void run(motion, live);
    } catch (error) {
      if (own !== starts) return;
      failed = JSON.stringify(source);
      changeTable(tools, { character: null });
      if (!(error instanceof Cancelled)) store.fail("stream", error);
    }
  }

  async function run(motion: ShownMotion, live: number): Promise<void> {
    let [last, owed] = [performance.now(), 0];
    while (isLive(live)) {
      const now = await new Promise<number>((done) => requestAnimationFrame(done));
      owed = Math.min(owed + ((now - last) / 1000) * motion.fps * (clock.playing ? 1 : 0), MOST_STEP);
      last = now;
      if (owed < 1 || !isLive(live)) continue;
      const frames = Math.floor(owed);
      owed -= frames;
      try {
        takePose(motion, await api.streamStep(live, frames));
      } catch {
        stop(); // the server has ended, or another table was built
      }
    }
  }

  function stop(): void {
    failed = "";
    const now = character();
    if (!now) return; // a live blend is not stopped here
    starts++;
    if (now.live !== null) void api.ask("stream.stop", { live: now.live }).catch(() => undefined);
    changeTable(tools, { character: null });
    if (store.scene.live) store.show({ live: null });
  }

  async function go(goal: string): Promise<void> {
    const live = character()?.live ?? null;
    if (live === null) return;
    changeTable(tools, { character: { live, goal } });
    try {
      await api.ask("stream.go", { live, goal });
      store.clear("stream");
    } catch (error) {
      if (isLive(live)) changeTable(tools, { character: { live, goal: "" } });
      store.fail("stream", error);
    }
  }

  // Before the tabs: a digit goes to a goal while the character is live.
  window.addEventListener(
    "keydown",
    (event) => {
      const on = event.target as HTMLElement;
      const goal = factsOf(store)?.goals[Number(event.key) - 1];
      if (!character() || store.project.tab !== "table" || !goal || event.ctrlKey || event.metaKey) return;
      if (on.closest?.("input:not([type=range]):not([type=checkbox]), textarea, select")) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      void go(goal);
    },
    true,
  );

  function draw(): void {
    const names = factsOf(store)?.goals ?? [];
    const now = character();
    const goal = now?.goal ?? "";
    const key = JSON.stringify([names, goal, now === null]);
    status.textContent = !now ? "" : goal ? `going to ${goal}` : "playing from A";
    if (key === drawn) return;
    drawn = key;
    replace(
      goals,
      ...names.map((name, k) => {
        const each = button(k < 9 ? `${k + 1}  ${name}` : name, `go to ${name}`, () => void go(name), "small goal");
        each.setAttribute("aria-pressed", String(name === goal));
        if (!now) each.disabled = true;
        else if (isShortGoal(store, name)) {
          each.disabled = true;
          each.title = `${name} is shorter than the table's window of ${windowOf(store)} frames`;
        }
        return each;
      }),
    );
  }

  return { element, draw, start: () => void start(), stop };
}
