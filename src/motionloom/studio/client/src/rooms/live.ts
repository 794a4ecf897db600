// A live blend: asks for one pose a drawn frame, as far on as time went, and puts it on the stage.

import type { Steer } from "../messages";
import type { ShownMotion } from "../motion";
import type { Tools } from "../panel";

const MOST_AT_ONCE = 16; // frames; a page that was hidden does not catch up
const MOST_RECORDED_S = 60; // as the server keeps

export interface Live {
  readonly on: boolean;
  readonly recording: boolean;
  readonly seconds: number; // recorded so far
  readonly latency: number; // milliseconds of the last pose, there and back
  start(clips: string[], to: Steer): Promise<void>;
  steer(to: Steer): void;
  record(): void;
  // Ends it; what was recorded, a row of weights a frame.
  stop(): Promise<number[][]>;
}

export function createLive({ store, api }: Tools, changed: () => void): Live {
  let live: { number: number; fps: number; shown: ShownMotion } | null = null;
  let target: Steer = {};
  let [waiting, last, owed, recorded] = [false, 0, 0, 0];
  const state = {
    get on(): boolean {
      return live !== null;
    },
    recording: false,
    seconds: 0,
    latency: 0,
    start,
    steer,
    record,
    stop,
  };

  async function start(clips: string[], to: Steer): Promise<void> {
    target = to;
    const { body } = await api.ask("control.start", { clips });
    const planted = new Uint8Array(4);
    const shown: ShownMotion = {
      name: "live",
      frames: 1,
      fps: body.fps,
      looks: body.looks,
      prints: [],
      points: new Float32Array(3 * body.looks.points),
      planted,
      speeds: null,
      com: null,
      zmp: null,
      support: null,
      skin: null,
      poses: null,
    };
    [recorded, owed, last] = [0, 1, performance.now()];
    live = { number: body.live, fps: body.fps, shown };
    await next(1);
    if (live) store.show({ live: shown });
    requestAnimationFrame(tick);
    changed();
  }

  function tick(now: number): void {
    if (!live) return;
    owed = Math.min(owed + ((now - last) / 1000) * live.fps, MOST_AT_ONCE);
    last = now;
    const frames = Math.floor(owed);
    if (!waiting && frames > 0) {
      owed -= frames;
      void next(frames);
    }
    requestAnimationFrame(tick);
  }

  async function next(frames: number): Promise<void> {
    if (!live) return;
    const { number, shown } = live;
    const asked = performance.now();
    waiting = true;
    try {
      const pose = await api.step(number, target, frames, state.recording);
      state.latency = performance.now() - asked;
      if (pose.live !== number) return;
      shown.points.set(pose.points);
      for (let k = 0; k < 4; k++) shown.planted![k] = (pose.planted >> k) & 1;
      if (state.recording) {
        recorded += frames;
        state.seconds = Math.min(recorded / shown.fps, MOST_RECORDED_S);
      }
      changed();
    } catch (error) {
      live = null;
      state.recording = false;
      store.show({ live: null });
      store.fail("live", error);
      changed();
    } finally {
      waiting = false;
    }
  }

  function steer(to: Steer): void {
    target = to;
  }

  function record(): void {
    state.recording = true;
    [recorded, state.seconds] = [0, 0];
    changed();
  }

  async function stop(): Promise<number[][]> {
    if (!live) return [];
    const { number } = live;
    live = null;
    state.recording = false;
    store.show({ live: null });
    changed();
    const { body } = await api.ask("control.stop", { live: number });
    return body.recorded;
  }

  return state;
}
