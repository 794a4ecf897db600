// An actor: one motion on the stage with all its layers, placed where it belongs.

import { Group } from "three";
import { pointsAt, type ShownMotion } from "../motion";
import { bodyLayer } from "./body";
import { printLayer, ribbonLayer, shadowLayer } from "./ground";
import type { MakeLayer, Tints } from "./layer";

export type Colour = "amber" | "ink" | "blue";

export interface Role {
  motion: ShownMotion;
  colour: Colour;
  ghost: boolean;
  // Turn and slide on the ground (theta, x0, z0).
  placement: [number, number, number];
}

const LAYERS: MakeLayer[] = [ribbonLayer, shadowLayer, printLayer, bodyLayer];

export class Actor {
  readonly group = new Group();
  readonly layers;
  private readonly points: Float32Array;

  constructor(readonly role: Role) {
    this.layers = LAYERS.map((make) => make(role.motion, role.ghost));
    this.group.add(...this.layers.map((layer) => layer.object));
    const [theta, x0, z0] = role.placement;
    this.group.rotation.y = theta; // positive carries +Z towards +X, as in motionloom
    this.group.position.set(x0, 0, z0);
    this.points = new Float32Array(role.motion.looks.points * 3);
  }

  update(frame: number): void {
    pointsAt(this.role.motion, frame, this.points);
    for (const layer of this.layers) layer.update(frame, this.points);
  }

  // Where the root is in the world, as last updated.
  root(): [number, number, number] {
    const at = 3 * this.role.motion.looks.root;
    const [theta, x0, z0] = this.role.placement;
    const [x, y, z] = this.points.subarray(at, at + 3);
    const [s, c] = [Math.sin(theta), Math.cos(theta)];
    return [c * x + s * z + x0, y, c * z - s * x + z0];
  }

  paint(tints: Tints): void {
    for (const layer of this.layers) layer.paint(tints);
  }

  dispose(): void {
    for (const layer of this.layers) layer.dispose();
  }
}
