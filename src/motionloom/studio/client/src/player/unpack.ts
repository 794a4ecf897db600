// A clip as drawing/page.py packs it, prepared for stage and timeline.

import type { Looks, Print } from "../messages";
import { KINDS, type ShownMotion } from "../motion";
import type { Colour } from "../stage/actor";

interface Packed {
  name: string;
  fps: number;
  frames: number;
  colour: Colour;
  height: number;
  floor: number;
  heading: number;
  points: number;
  root: number;
  parts: Looks["parts"];
  positions: string;
  speeds: string | null;
  prints: (Print & { ground: number })[];
  com: string | null;
  zmp: string | null;
  support: string | null;
  placement?: [number, number, number];
  follows?: string;
}

export interface PlayedClip {
  motion: ShownMotion;
  colour: Colour;
  placement: [number, number, number];
  // Its frame at every frame of the clip that leads; null where it has its own clock.
  follows: Float32Array | null;
}

const NOTHING = -32768; // of a packed track

function bytesOf(text: string): ArrayBuffer {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
}

// Whole millimetres back to metres.
function metresOf(text: string | null): Float32Array | null {
  return text === null
    ? null
    : Float32Array.from(new Int16Array(bytesOf(text)), (mm) => (mm === NOTHING ? NaN : mm / 1000));
}

export function unpackClip(packed: Packed): PlayedClip {
  const { name, frames, fps, points, root, parts, height, floor, heading } = packed;
  const prints = packed.prints.map(
    (print): Print => ({ ...print, place: [print.place[0], print.ground, print.place[2]] }),
  );
  const planted = new Uint8Array(4 * frames);
  for (const { kind, first, last } of prints) {
    const column = KINDS.indexOf(kind as (typeof KINDS)[number]);
    for (let f = first; f <= last; f++) planted[4 * f + column] = 1;
  }
  return {
    motion: {
      name,
      frames,
      fps,
      prints,
      planted,
      looks: { points, root, parts, height, floor, heading, joints: [] },
      points: new Float32Array(bytesOf(packed.positions)),
      speeds: packed.speeds ? new Float32Array(bytesOf(packed.speeds)) : null,
      com: metresOf(packed.com),
      zmp: metresOf(packed.zmp),
      support: metresOf(packed.support),
      skin: null,
      poses: null, // a page stays small: the body stands for it
    },
    colour: packed.colour,
    placement: packed.placement ?? [0, 0, 0],
    follows: packed.follows ? new Float32Array(bytesOf(packed.follows)) : null,
  };
}
