// Edits on the timeline: where the blend goes, and plants that never overlap.

import { beforeEach, describe, expect, it } from "vitest";
import type { Print, ResultAnswer, Span } from "../src/messages";
import type { ShownMotion } from "../src/motion";
import { Store, type TabResult } from "../src/store";
import { bracketEdits, nudge, plantEdits } from "../src/timeline/edits";
import { scaleOf, ticksOf } from "../src/timeline/scale";

const KIND = "left_heel";

function print(first: number, last: number): Print {
  return { kind: KIND, first, last } as Print;
}

function shown(frames: number, fps: number, prints: Print[] = []): ShownMotion {
  return { name: "clip", frames, fps, prints } as unknown as ShownMotion;
}

// A transition of two clips of 100 frames: A plays to frame 40, B from its frame 20.
function joined(): TabResult {
  const frames = 120;
  const sourceFrames = new Float32Array(2 * frames).fill(NaN);
  for (let t = 0; t < frames; t++) {
    if (t <= 60) sourceFrames[2 * t] = t;
    if (t >= 40) sourceFrames[2 * t + 1] = t - 20;
  }
  const detail = { tab: "transition", at: [50, 30], span: [40, 60] };
  const sources = [{ clip: "a" }, { clip: "b" }];
  return {
    key: "k",
    answer: { detail, sources } as unknown as ResultAnswer,
    arrays: {},
    motion: shown(frames, 30),
    sources: [shown(100, 30), shown(100, 30)],
    sourceFrames,
  };
}

let store: Store;

beforeEach(() => {
  store = new Store();
  store.show({
    clips: { a: shown(100, 30, [print(10, 20), print(30, 45)]), b: shown(100, 30, [print(40, 50)]) },
    results: { transition: joined() },
  });
});

const spans = (clip: string): Span[] => store.project.plants[clip]?.[KIND] ?? [];

describe("the blend", () => {
  it("goes where it is dragged, in both clips alike", () => {
    bracketEdits(store, joined())!.set({ first: 45, last: 65 });
    expect(store.project.transition.at).toEqual([55, 35]);
    expect(store.project.transition.length_s).toBe(0.6);
  });

  it("stays inside both clips", () => {
    bracketEdits(store, joined())!.set({ first: 400, last: 420 });
    expect(store.project.transition.at).toEqual([99, 99]);
  });

  it("is as long as it is drawn, from 0.1 to 2 s", () => {
    const edits = bracketEdits(store, joined())!;
    edits.set({ first: 40, last: 70 });
    expect(store.project.transition.length_s).toBe(1);
    edits.set({ first: 50, last: 50 });
    expect(store.project.transition.length_s).toBe(0.1);
    edits.set({ first: 0, last: 119 });
    expect(store.project.transition.length_s).toBe(2);
  });

  it("shifts one clip alone by its strip", () => {
    bracketEdits(store, joined())!.slip(1, 4);
    expect(store.project.transition.at).toEqual([50, 26]);
  });

  it("moves by a frame for a key, one step of undo each", () => {
    nudge(store, 1, 0);
    nudge(store, 1, 0);
    expect(store.project.transition.at).toEqual([51, 31]);
    store.undo();
    store.undo();
    expect(store.project.transition.at).toBeNull();
  });
});

describe("a plant", () => {
  it("follows the end that is dragged, no farther than its neighbour", () => {
    const drag = plantEdits(store)!.hold(print(10, 20), "last")!;
    drag(24);
    expect(spans("a")).toEqual([
      [10, 24],
      [30, 45],
    ]);
    drag(90);
    expect(spans("a")[0]).toEqual([10, 28]);
    drag(2);
    expect(spans("a")[0]).toEqual([10, 10]);
    store.endDrag();
    store.undo();
    expect(store.project.plants).toEqual({});
  });

  it("is one of the clip that the foot comes from there", () => {
    plantEdits(store)!.add(KIND, 100);
    expect(spans("b")).toEqual([
      [40, 50],
      [77, 83],
    ]);
    expect(spans("a")).toEqual([]);
  });

  it("is not put where one is, nor outside the clip", () => {
    plantEdits(store)!.add(KIND, 15);
    plantEdits(store)!.add(KIND, 119.9); // frame 99.9 of 100
    expect(spans("a")).toEqual([]);
    expect(spans("b")).toEqual([]);
  });

  it("is cut at the clip's end", () => {
    plantEdits(store)!.add(KIND, 118.9);
    expect(spans("b")).toEqual([
      [40, 50],
      [96, 99],
    ]);
  });

  it("goes whole when it is removed", () => {
    plantEdits(store)!.remove(print(12, 18));
    expect(spans("a")).toEqual([[30, 45]]);
    store.undo();
    expect(store.project.plants).toEqual({});
  });

  it("cannot be edited in a result of several clips", () => {
    const result = joined();
    store.show({ results: { transition: { ...result, answer: { detail: { tab: "blend" } } as never } } });
    expect(plantEdits(store)).toBeUndefined();
  });
});

describe("the scale", () => {
  it("goes from seconds to pixels and back, inside the motion", () => {
    const scale = scaleOf(800, 4);
    for (const t of [0, 0.1, 1.7, 4]) expect(scale.seconds(scale.x(t))).toBeCloseTo(t, 9);
    expect(scale.seconds(-50)).toBe(0);
    expect(scale.seconds(5000)).toBe(4);
  });

  it("has marks that can be read, for any length", () => {
    for (const duration of [0.2, 3, 65, 3600]) {
      const scale = scaleOf(800, duration);
      const marks = ticksOf(scale);
      expect(marks.length).toBeGreaterThan(0);
      expect(marks.length).toBeLessThan(20);
      expect(marks.at(-1)!).toBeLessThanOrEqual(duration + 1e-6);
    }
  });
});
