// A layer draws one thing about a motion (its body, its shadow, its prints). To add one, write a file
// beside this and name it in `actor.ts`; a layer costs one or two draw calls.

import type { Object3D } from "three";
import type { ShownMotion } from "../motion";

export interface Tints {
  body: [number, number, number];
  planted: [number, number, number];
  sliding: [number, number, number];
  shadow: [number, number, number];
}

export interface Layer {
  object: Object3D;
  // `points` are the body's, at `frame`.
  update(frame: number, points: Float32Array): void;
  paint(tints: Tints): void;
  dispose(): void;
}

export type MakeLayer = (motion: ShownMotion, ghost: boolean) => Layer;

export function rgb(hex: string): [number, number, number] {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255) as [number, number, number];
}
