// A live blend: requests one pose per drawn frame and puts it on the stage.

import type { Steer } from "../api";
import { liveMotion, type ShownMotion, takePose } from "../motion";
import { type LiveBlend, registeredBy } from "../store";
import type { Tools } from "../tools";

const MOST_FRAMES = 16; // of one step: a page that was hidden does not catch up
const MOST_RECORDED_S = 60; // the server's limit
const REPORT_MS = 200; // between updates of the shown figures

export interface Live {
  // Where it is steered to; null when none is live.
  readonly target: Steer | null;
  start(clips: string[], to: Steer): Promise<void>;
  steer(to: Steer): void;
  record(): void;
  // Ends it; the recorded weights, one row per frame.
  stop(): Promise<number[][]>;
}

export function createLive({ store, api }: Tools): Live {
  let live: { number: number; shown: ShownMotion } | null = null;
  let target: Steer | null = null;
  let [waiting, last, owed, recorded, reported] = [false, 0, 0, 0, 0];

  function report(part: Partial<LiveBlend>): void {
    const { liveBlend } = store.scene;
    if (liveBlend) store.show({ liveBlend: { ...liveBlend, ...part } });
  }

  async function start(clips: string[], to: Steer): Promise<void> {
    const { body } = await api.ask("control.start", { clips, ...registeredBy(store.project) });
    const shown = liveMotion(body);
    [recorded, owed, last] = [0, 1, performance.now()];
    target = to;
    live = { number: body.live, shown };
    store.show({ liveBlend: { clips, recording: false, seconds: 0, latency: 0 } });
    await next(1);
    if (live) store.show({ live: shown });
    requestAnimationFrame(tick);
  }

  function tick(now: number): void {
    if (!live) return;
    owed = Math.min(owed + ((now - last) / 1000) * live.shown.fps, MOST_FRAMES);
    last = now;
    const frames = Math.floor(owed);
    if (!waiting && frames > 0) {
      owed -= frames;
      void next(frames);
    }
    requestAnimationFrame(tick);
  }

  async function next(frames: number): Promise<void> {
    if (!live || !target) return;
    const { number, shown } = live;
    const begun = performance.now();
    const recording = store.scene.liveBlend?.recording ?? false;
    waiting = true;
    try {
      const pose = await api.step(number, target, frames, recording);
      if (pose.live !== number) return;
      takePose(shown, pose);
      if (recording) recorded += frames;
      const now = performance.now();
      if (now - reported < REPORT_MS) return;
      reported = now;
      report({ latency: now - begun, seconds: Math.min(recorded / shown.fps, MOST_RECORDED_S) });
    } catch (error) {
      end();
      store.fail("live", error);
    } finally {
      waiting = false;
    }
  }

  function end(): void {
    [live, target] = [null, null];
    store.show({ live: null, liveBlend: null });
  }

  async function stop(): Promise<number[][]> {
    if (!live) return [];
    const { number } = live;
    end();
    const { body } = await api.ask("control.stop", { live: number });
    return body.recorded;
  }

  return {
    get target(): Steer | null {
      return target;
    },
    start,
    steer: (to) => {
      target = to;
    },
    record: () => {
      recorded = 0;
      report({ recording: true, seconds: 0 });
    },
    stop,
  };
}
