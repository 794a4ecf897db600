// A layer draws one thing about a motion (its body, its shadow, its prints). To add one, write a file
// next to this and name it in `actor.ts`; a layer costs one or two draw calls.

import type { BufferGeometry, Mesh, Object3D, ShaderMaterial } from "three";
import type { ShownMotion } from "../motion";

type Rgb = [number, number, number];

export interface Tints {
  body: Rgb;
  planted: Rgb;
  sliding: Rgb;
  warning: Rgb;
  shadow: Rgb;
  toLight: Rgb; // where the key light stands; shadows fall away from it
}

// What can be switched on and off; the body is always visible.
export const SWITCHES = ["prints", "path", "trails", "balance", "skin"] as const;
export type Switch = (typeof SWITCHES)[number];
export type Switches = Record<Switch, boolean>;
export const ALL_ON: Switches = { prints: true, path: true, trails: false, balance: false, skin: true };

export interface Layer {
  object: Object3D;
  // `points` are the body's, at `frame`.
  update(frame: number, points: Float32Array): void;
  paint(tints: Tints): void;
  dispose(): void;
}

export type MakeLayer = (motion: ShownMotion, ghost: boolean) => Layer;

export function rgb(hex: string): Rgb {
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255) as Rgb;
}

// A layer of one mesh whose shader has the frame as a uniform.
export function meshLayer(mesh: Mesh<BufferGeometry, ShaderMaterial>, paint: (tints: Tints) => void): Layer {
  return {
    object: mesh,
    update(frame) {
      mesh.material.uniforms.frame.value = frame;
    },
    paint,
    dispose() {
      mesh.geometry.dispose();
      mesh.material.dispose();
    },
  };
}
