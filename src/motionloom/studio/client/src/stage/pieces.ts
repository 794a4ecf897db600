// What the body is put together from: balls, capsules between two of them, and the flat faces that
// touch three. All are given to the shaders as they are, one instance each.

import { BufferAttribute, InstancedBufferAttribute, InstancedBufferGeometry } from "three";
import type { Part } from "../messages";

// Corners of a capsule: around it, and from each pole to its rim.
const FINE: [number, number] = [24, 6];
export const COARSE: [number, number] = [9, 3]; // for shadows, of which only the outline shows

// A ball between two of the body's points.
export interface Ball {
  a: number;
  b: number;
  t: number;
  r: number;
}
export interface Piece {
  balls: Ball[];
  part: Part;
}

// Muscle: where along a limb it is thickest, and how much thicker than at its upper end.
const SWELL: Record<string, [number, number]> = {
  thigh: [0.28, 1.08],
  shin: [0.27, 1.16],
  "upper arm": [0.38, 1.06],
  forearm: [0.24, 1.14],
  hand: [0.55, 1.3],
};

export function capsulesOf(parts: Part[]): Piece[] {
  const pieces: Piece[] = [];
  for (const part of parts) {
    const balls = ballsOf(part);
    const swell = SWELL[part.name];
    if (swell && balls.length === 2) {
      const [t, more] = swell;
      const middle: Ball = { a: part.points[0], b: part.points[1], t, r: more * part.radii[0] };
      pieces.push({ balls: [balls[0], middle], part }, { balls: [middle, balls[1]], part });
      continue;
    }
    for (let i = 0; i < balls.length; i++) {
      for (let j = i + 1; j < balls.length; j++) pieces.push({ balls: [balls[i], balls[j]], part });
    }
    if (balls.length === 1) pieces.push({ balls: [balls[0], balls[0]], part });
  }
  return pieces;
}

// Three balls of one part have two planes that touch them all: the hull is closed with these.
export function facesOf(parts: Part[]): Piece[] {
  const pieces: Piece[] = [];
  for (const part of parts) {
    const balls = ballsOf(part);
    for (let i = 0; i < balls.length; i++) {
      for (let j = i + 1; j < balls.length; j++) {
        for (let k = j + 1; k < balls.length; k++) pieces.push({ balls: [balls[i], balls[j], balls[k]], part });
      }
    }
  }
  return pieces;
}

function ballsOf(part: Part): Ball[] {
  return part.points.map((p, i) => ({ a: p, b: p, t: 0, r: part.radii[i] }));
}

// Broad parts are lit around their middle, so that their many pieces look like one: how much of it.
const SOFT: Record<string, number> = { chest: 0.6, seat: 0.6, trunk: 0.5, foot: 0.35 };
// Chest and seat share the waist: they have one middle, or their light would meet in a jagged line.
const ONE_TRUNK = ["chest", "seat"];

// Instances with their balls, tint and the middle of their part as attributes `ball0`, `ball1` ...,
// `tint` and `core`.
export class Pieces {
  readonly geometry = new InstancedBufferGeometry();
  private readonly core: InstancedBufferAttribute;
  private readonly around: number[][]; // points that each piece's middle is the mean of
  private readonly balls: InstancedBufferAttribute[];
  private readonly tint: InstancedBufferAttribute;

  constructor(
    private readonly all: Piece[],
    each: number,
    shape: { where: Float32Array; index: number[] },
  ) {
    const count = all.length;
    this.geometry.setAttribute("position", new BufferAttribute(shape.where, 3));
    this.geometry.setIndex(shape.index);
    this.geometry.instanceCount = count;
    this.balls = Array.from({ length: each }, () => new InstancedBufferAttribute(new Float32Array(4 * count), 4));
    this.balls.forEach((ball, n) => {
      this.geometry.setAttribute(`ball${n}`, ball);
      all.forEach((piece, k) => ball.setW(k, piece.balls[n].r));
    });
    this.core = new InstancedBufferAttribute(new Float32Array(4 * count), 4);
    all.forEach(({ part }, k) => this.core.setW(k, SOFT[part.name] ?? 0));
    this.geometry.setAttribute("core", this.core);
    const trunk = [...new Set(all.flatMap(({ part }) => (ONE_TRUNK.includes(part.name) ? part.points : [])))];
    this.around = all.map(({ part }) => (ONE_TRUNK.includes(part.name) ? trunk : SOFT[part.name] ? part.points : []));
    this.tint = new InstancedBufferAttribute(new Float32Array(3 * count).fill(0.5), 3);
    this.geometry.setAttribute("tint", this.tint);
  }

  place(points: Float32Array): void {
    this.balls.forEach((ball, n) => {
      const to = ball.array;
      for (let k = 0; k < this.all.length; k++) {
        const { a, b, t } = this.all[k].balls[n];
        for (let c = 0; c < 3; c++) {
          const from = points[3 * a + c];
          to[4 * k + c] = from + t * (points[3 * b + c] - from);
        }
      }
      ball.needsUpdate = true;
    });
    this.around.forEach((members, k) => {
      for (let c = 0; c < 3 && members.length; c++) {
        let sum = 0;
        for (const p of members) sum += points[3 * p + c];
        this.core.array[4 * k + c] = sum / members.length;
      }
    });
    this.core.needsUpdate = true;
  }

  colour(of: (part: Part) => readonly number[]): void {
    const to = this.tint.array;
    let changed = false;
    this.all.forEach(({ part }, k) => {
      const colour = of(part);
      for (let c = 0; c < 3; c++) {
        const value = Math.fround(colour[c]);
        changed ||= to[3 * k + c] !== value;
        to[3 * k + c] = value;
      }
    });
    this.tint.needsUpdate ||= changed;
  }
}

// A capsule; its vertices store their place on it: around, from pole to rim, and at which end.
export function capsuleShape([around, rings] = FINE): { where: Float32Array; index: number[] } {
  const where: number[] = [];
  const index: number[] = [];
  for (let ring = 0; ring < 2 * rings; ring++) {
    const end = ring < rings ? 0 : 1;
    const toRim = end === 0 ? ring / (rings - 1) : 1 - (ring - rings) / (rings - 1);
    for (let k = 0; k <= around; k++) where.push((2 * Math.PI * k) / around, toRim, end);
  }
  const row = around + 1;
  for (let ring = 0; ring < 2 * rings - 1; ring++) {
    for (let k = 0; k < around; k++) {
      const at = ring * row + k;
      index.push(at, at + row, at + 1, at + 1, at + row, at + row + 1);
    }
  }
  return { where: new Float32Array(where), index };
}

// Two triangles; their vertices store which ball they touch, and on which side.
export function faceShape(): { where: Float32Array; index: number[] } {
  return {
    where: new Float32Array([0, 1, 0, 1, 1, 0, 2, 1, 0, 0, -1, 0, 1, -1, 0, 2, -1, 0]),
    index: [0, 1, 2, 3, 5, 4],
  };
}
