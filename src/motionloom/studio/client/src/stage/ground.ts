// On the ground: the floor's grid, footprints, the root's path.

import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  InstancedBufferAttribute,
  InstancedBufferGeometry,
  Mesh,
  PlaneGeometry,
  ShaderMaterial,
} from "three";
import type { ShownMotion } from "../motion";
import { type Layer, meshLayer } from "./layer";

// Lifted a little over one another, so that they do not fight for the same depth.
export const SHADOW_Y = 0.002;
const RIBBON_Y = 0.003;
const PRINT_Y = 0.005;

export interface Floor {
  mesh: Mesh;
  place(x: number, y: number, z: number): void;
  paint(line: [number, number, number]): void;
}

// A grid of metres that fades out towards the rim: the floor has no edge.
export function createFloor(): Floor {
  const geometry = new PlaneGeometry(40, 40).rotateX(-Math.PI / 2);
  const material = new ShaderMaterial({
    uniforms: { line: { value: [0.8, 0.8, 0.8] } },
    transparent: true,
    depthWrite: false,
    vertexShader: /* glsl */ `
      varying vec3 vWorld;
      varying vec2 vLocal;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        vWorld = world.xyz;
        vLocal = position.xz;
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 line;
      varying vec3 vWorld;
      varying vec2 vLocal;
      float grid(float every, float wide) {
        vec2 at = vWorld.xz / every;
        vec2 near = abs(fract(at - 0.5) - 0.5) / fwidth(at);
        return 1.0 - min(min(near.x, near.y) / wide, 1.0);
      }
      void main() {
        float fade = clamp(1.0 - length(vLocal) / 12.0, 0.0, 1.0);
        float strength = max(grid(1.0, 1.4), 0.35 * grid(0.25, 1.0));
        gl_FragColor = vec4(line, strength * fade * fade);
      }`,
  });
  const mesh = new Mesh(geometry, material);
  mesh.renderOrder = -10;
  return {
    mesh,
    place(x, y, z) {
      mesh.position.set(x, y, z);
    },
    paint(line) {
      material.uniforms.line.value = line;
    },
  };
}

function quad(): BufferGeometry {
  return new PlaneGeometry(2, 2).rotateX(-Math.PI / 2);
}

// Flat squares on the ground, many in one draw call.
export function instanced(count: number): InstancedBufferGeometry {
  const base = quad();
  const geometry = new InstancedBufferGeometry();
  geometry.setAttribute("position", base.getAttribute("position"));
  geometry.setIndex(base.getIndex());
  geometry.instanceCount = count;
  return geometry;
}

// Where heels and balls stand: green, or red and hollow where they slide.
export function printLayer(motion: ShownMotion, ghost: boolean): Layer {
  const prints = motion.prints;
  const geometry = instanced(prints.length);
  const place = new Float32Array(prints.length * 4);
  const when = new Float32Array(prints.length * 4);
  prints.forEach((print, k) => {
    place.set([print.place[0], print.place[1] + PRINT_Y, print.place[2], print.heading], 4 * k);
    when.set([print.first, print.last, print.slides ? 1 : 0, print.kind.endsWith("toe") ? 1 : 0], 4 * k);
  });
  geometry.setAttribute("place", new InstancedBufferAttribute(place, 4));
  geometry.setAttribute("when", new InstancedBufferAttribute(when, 4));
  const material = new ShaderMaterial({
    uniforms: {
      frame: { value: 0 },
      planted: { value: [0, 1, 0] },
      sliding: { value: [1, 0, 0] },
      strength: { value: ghost ? 0.35 : 1 },
    },
    transparent: true,
    depthWrite: false,
    vertexShader: /* glsl */ `
      attribute vec4 place;
      attribute vec4 when;
      varying vec2 vAt;
      varying vec4 vWhen;
      void main() {
        vec2 size = when.w > 0.5 ? vec2(0.062, 0.042) : vec2(0.036, 0.031);
        float ahead = size.x * position.z, across = size.y * position.x;
        float s = sin(place.w), c = cos(place.w);
        vec3 at = place.xyz + vec3(s * ahead + c * across, 0.0, c * ahead - s * across);
        vAt = position.xz;
        vWhen = when;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(at, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      uniform float frame;
      uniform vec3 planted;
      uniform vec3 sliding;
      uniform float strength;
      varying vec2 vAt;
      varying vec4 vWhen;
      void main() {
        float r = length(vAt);
        if (r > 1.0) discard;
        bool slides = vWhen.z > 0.5;
        if (slides && r < 0.68) discard;
        float here = frame >= vWhen.x && frame <= vWhen.y + 1.0 ? 0.95 : frame > vWhen.y ? 0.45 : 0.18;
        gl_FragColor = vec4(slides ? sliding : planted, here * strength);
      }`,
  });
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -3;
  mesh.visible = prints.length > 0;
  return meshLayer(mesh, (tints) => {
    material.uniforms.planted.value = tints.planted;
    material.uniforms.sliding.value = tints.sliding;
  });
}

// The root's path on the ground: bold behind, faint ahead.
export function ribbonLayer(motion: ShownMotion, ghost: boolean): Layer {
  const { root, points: n, floor } = motion.looks;
  const step = Math.max(1, Math.round(motion.fps / 30));
  const rows: number[] = [];
  for (let f = 0; f < motion.frames; f += step) rows.push(f);
  const spot = (f: number): [number, number] => {
    const at = 3 * (f * n + root);
    return [motion.points[at], motion.points[at + 2]];
  };
  const places: number[] = [];
  const index: number[] = [];
  let across: [number, number] = [1, 0];
  rows.forEach((f, k) => {
    const [x, z] = spot(f);
    const [x0, z0] = spot(rows[Math.max(0, k - 1)]);
    const [x1, z1] = spot(rows[Math.min(rows.length - 1, k + 1)]);
    const long = Math.hypot(x1 - x0, z1 - z0);
    if (long > 1e-4) across = [(z1 - z0) / long, -(x1 - x0) / long];
    for (const side of [-0.015, 0.015]) places.push(x + side * across[0], f, z + side * across[1]);
    if (k) index.push(2 * k - 2, 2 * k - 1, 2 * k, 2 * k, 2 * k - 1, 2 * k + 1);
  });
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(places), 3));
  geometry.setIndex(index);
  const material = new ShaderMaterial({
    uniforms: {
      frame: { value: 0 },
      tint: { value: [0, 0, 0] },
      height: { value: floor + RIBBON_Y },
      strength: { value: ghost ? 0.5 : 1 },
    },
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    vertexShader: /* glsl */ `
      uniform float height;
      varying float vFrame;
      void main() {
        vFrame = position.y;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position.x, height, position.z, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      uniform float frame;
      uniform vec3 tint;
      uniform float strength;
      varying float vFrame;
      void main() {
        gl_FragColor = vec4(tint, strength * (vFrame <= frame ? 0.55 : 0.2));
      }`,
  });
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -4;
  return meshLayer(mesh, (tints) => {
    material.uniforms.tint.value = tints.body;
  });
}
