// The eye: orbits a target, the same for every pane.

import { PerspectiveCamera } from "three";

const FIELD_OF_VIEW = 0.5; // radians: long enough a lens that limbs keep their size

export type ViewName = "three-quarter" | "front" | "side" | "top";

export interface Eye {
  camera: PerspectiveCamera;
  yaw: number;
  pitch: number;
  zoom: number;
  pan: [number, number, number];
  look(name: ViewName, heading: number): void;
  orbit(dx: number, dy: number): void;
  zoomBy(factor: number): void;
  aim(target: [number, number, number], tall: number, aspect: number, wide: number): void;
}

export function createEye(): Eye {
  const camera = new PerspectiveCamera((FIELD_OF_VIEW * 180) / Math.PI, 1, 0.1, 200);
  return {
    camera,
    yaw: -0.9,
    pitch: 0.26,
    zoom: 1,
    pan: [0, 0, 0],
    look(name, heading) {
      const views: Record<ViewName, [number, number]> = {
        side: [heading - Math.PI / 2, 0.08],
        front: [heading, 0.08],
        top: [heading - Math.PI / 2, 1.5],
        "three-quarter": [heading - 0.9, 0.26],
      };
      [this.yaw, this.pitch] = views[name] ?? views["three-quarter"];
      this.pan = [0, 0, 0];
      this.zoom = 1;
    },
    orbit(dx, dy) {
      this.yaw -= dx * 0.008;
      this.pitch = Math.min(1.55, Math.max(-0.05, this.pitch + dy * 0.008));
    },
    zoomBy(factor) {
      this.zoom = Math.min(8, Math.max(0.12, this.zoom * factor));
    },
    // `wide` is how much of the ground must be seen next to the body, metres.
    aim(target, tall, aspect, wide) {
      const [sy, cy] = [Math.sin(this.yaw), Math.cos(this.yaw)];
      const [sp, cp] = [Math.sin(this.pitch), Math.cos(this.pitch)];
      const reach = Math.max(1.28 * tall, (0.95 * tall + wide) / aspect);
      const far = reach / (2 * Math.tan(FIELD_OF_VIEW / 2)) / this.zoom;
      const at = target.map((value, i) => value + this.pan[i]) as [number, number, number];
      camera.position.set(at[0] + far * cp * sy, at[1] + far * sp, at[2] + far * cp * cy);
      camera.up.set(0, 1, 0);
      camera.lookAt(...at);
      camera.aspect = aspect;
      camera.updateProjectionMatrix();
    },
  };
}
