// A motion as the stage and the timeline draw it. No other part of the page is needed for it, so
// that a page of its own can play one.

import type { Arrays, Looks, NumberArray, Print, Shown } from "./messages";

export interface ShownMotion {
  name: string;
  frames: number;
  fps: number;
  looks: Looks;
  prints: Print[];
  points: Float32Array; // (F, P, 3)
  planted: NumberArray | null; // (F, 4)
  speeds: NumberArray | null; // (F, 4)
  com: NumberArray | null; // (F, 3)
  zmp: NumberArray | null; // (F, 2)
  support: NumberArray | null; // (F, 16, 2)
}

// The motion of an answer; `prefix` is "" for the result itself and "0." for its first source.
export function motionOf(shown: Shown, arrays: Arrays, prefix = ""): ShownMotion {
  const array = (name: string): NumberArray | null => arrays[prefix + name]?.values ?? null;
  return {
    ...shown,
    points: array("points") as Float32Array,
    planted: array("planted"),
    speeds: array("speeds"),
    com: array("com"),
    zmp: array("zmp"),
    support: array("support"),
  };
}

// World points at a fractional frame, into `out` (P * 3).
export function pointsAt(motion: ShownMotion, frame: number, out: Float32Array): void {
  const at = Math.min(Math.max(frame, 0), motion.frames - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, motion.frames - 1);
  const t = at - low;
  const size = motion.looks.points * 3;
  for (let i = 0; i < size; i++) {
    const a = motion.points[low * size + i];
    out[i] = a + t * (motion.points[high * size + i] - a);
  }
}

export const KINDS = ["left_heel", "left_toe", "right_heel", "right_toe"] as const;
