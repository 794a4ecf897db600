// An actor: one motion on the stage with all its layers, placed where it belongs.

import { Group } from "three";
import { pointsAt, type ShownMotion } from "../motion";
import { balanceLayer } from "./balance";
import { bodyLayer } from "./body";
import { printLayer, ribbonLayer } from "./ground";
import type { Layer, MakeLayer, Switch, Switches, Tints } from "./layer";
import { shadowLayer } from "./shadow";
import { skinLayer } from "./skin";
import { trailLayer } from "./trails";

export type Colour = "amber" | "ink" | "blue";

export interface Role {
  motion: ShownMotion;
  colour: Colour;
  ghost: boolean;
  // Turn and slide on the ground (theta, x0, z0).
  placement: [number, number, number];
}

// Layers with their switch; null for those that are always visible.
const LAYERS: [Switch | null, MakeLayer][] = [
  ["path", ribbonLayer],
  [null, shadowLayer],
  ["prints", printLayer],
  [null, bodyLayer],
  ["trails", trailLayer],
  ["balance", balanceLayer],
  ["skin", skinLayer],
];

export class Actor {
  readonly group = new Group();
  private readonly layers = new Map<MakeLayer, Layer>();
  private readonly points: Float32Array;
  private tints: Tints | null = null;

  constructor(
    readonly role: Role,
    switches: Switches,
  ) {
    const [theta, x0, z0] = role.placement;
    this.group.rotation.y = theta; // positive carries +Z towards +X, as in motionloom
    this.group.position.set(x0, 0, z0);
    this.points = new Float32Array(role.motion.looks.points * 3);
    this.turn(switches);
  }

  // Layers are created when they are first switched on: trails of a long clip are expensive.
  turn(switches: Switches): void {
    const dressed = switches.skin && this.role.motion.skin !== null;
    for (const [name, make] of LAYERS) {
      const on = make === bodyLayer ? !dressed : make === skinLayer ? dressed : name === null || switches[name];
      let layer = this.layers.get(make);
      if (on && !layer) {
        layer = make(this.role.motion, this.role.ghost);
        if (this.tints) layer.paint(this.tints);
        this.layers.set(make, layer);
        this.group.add(layer.object);
      }
      if (layer) layer.object.visible = on;
    }
  }

  update(frame: number): void {
    pointsAt(this.role.motion, frame, this.points);
    for (const layer of this.layers.values()) if (layer.object.visible) layer.update(frame, this.points);
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
    this.tints = tints;
    for (const layer of this.layers.values()) layer.paint(tints);
  }

  dispose(): void {
    for (const layer of this.layers.values()) layer.dispose();
  }
}
