// A motion as the stage and the timeline draw it. No other part of the page is needed for it, so
// that a separate page can play one.

import type { Looks, Print, Shown } from "./messages";
import type { Arrays, NumberArray, Pose } from "./wire";

// A mesh that follows joints: the skin of a file.
export interface Skin {
  points: Float32Array; // (V, 3) as they stand when the joints rest
  normals: Float32Array; // (V, 3)
  triangles: Int32Array; // (T, 3)
  bones: Uint8Array; // (V, 4) that carry each point
  weights: Float32Array; // (V, 4)
  binds: Float32Array; // (B, 12) from the mesh into each bone, rows of three by four
}

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
  skin: Skin | null;
  poses: Float32Array | null; // (F, B, 7) places and turns (wxyz) of the skin's bones, where there is a skin
}

// The motion of an answer; `prefix` is "" for the result and "0." for its first source.
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
    skin: skinOf(arrays),
    poses: array("poses") as Float32Array | null,
  };
}

// The skin of an answer, the same for the result and its sources.
function skinOf(arrays: Arrays): Skin | null {
  if (!arrays["skin.points"]) return null;
  const array = (name: string): NumberArray => arrays[`skin.${name}`].values;
  return {
    points: array("points") as Float32Array,
    normals: array("normals") as Float32Array,
    triangles: array("triangles") as Int32Array,
    bones: array("bones") as Uint8Array,
    weights: array("weights") as Float32Array,
    binds: array("binds") as Float32Array,
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

// A motion of few frames that poses overwrite.
export function liveMotion({ fps, looks }: { fps: number; looks: Looks }, frames = 1): ShownMotion {
  return {
    name: "live",
    frames,
    fps,
    looks,
    prints: [],
    points: new Float32Array(3 * frames * looks.points),
    planted: new Uint8Array(4 * frames),
    speeds: null,
    com: null,
    zmp: null,
    support: null,
    skin: null,
    poses: null,
  };
}

export function takePose(motion: ShownMotion, pose: Pose): void {
  motion.points.set(pose.points);
  for (let k = 0; k < 4; k++) motion.planted![k] = (pose.planted >> k) & 1;
}
