// Trails of hands and feet: where they were in the last second, thinner and fainter the longer ago.

import { BufferAttribute, BufferGeometry, DoubleSide, Mesh, ShaderMaterial } from "three";
import type { Looks } from "../messages";
import type { ShownMotion } from "../motion";
import { type Layer, meshLayer } from "./layer";

const SECONDS = 1;
const MOST_RATE = 60; // points a second: a fast hand is still round

// The last ball of each hand; the ball of each foot.
function ends({ parts }: Looks): number[] {
  const last = parts.filter(({ name }) => name === "hand").map(({ points }) => points[points.length - 1]);
  return [...last, ...parts.filter(({ name }) => name === "toes").map(({ points }) => points[0])];
}

export function trailLayer(motion: ShownMotion, ghost: boolean): Layer {
  const step = Math.max(1, Math.round(motion.fps / MOST_RATE));
  const rows: number[] = [];
  for (let f = 0; f < motion.frames; f += step) rows.push(f);
  const [place, before, after, when, index]: number[][] = [[], [], [], [], []];
  const spot = (point: number, k: number): number[] => {
    const f = rows[Math.min(Math.max(k, 0), rows.length - 1)];
    const at = 3 * (f * motion.looks.points + point);
    return [...motion.points.subarray(at, at + 3)];
  };
  for (const point of rows.length > 1 ? ends(motion.looks) : []) {
    rows.forEach((f, k) => {
      for (const side of [-1, 1]) {
        place.push(...spot(point, k));
        before.push(...spot(point, k - 1));
        after.push(...spot(point, k + 1));
        when.push(f, side);
      }
      const at = place.length / 3 - 2;
      if (k) index.push(at - 2, at - 1, at, at, at - 1, at + 1);
    });
  }
  const geometry = new BufferGeometry();
  const set = (name: string, values: number[], size: number): unknown =>
    geometry.setAttribute(name, new BufferAttribute(new Float32Array(values), size));
  set("position", place, 3);
  set("before", before, 3);
  set("after", after, 3);
  set("when", when, 2);
  geometry.setIndex(index);
  const material = new ShaderMaterial({
    uniforms: {
      frame: { value: 0 },
      span: { value: SECONDS * motion.fps },
      tint: { value: [0, 0, 0] },
      wide: { value: 0.008 * motion.looks.height },
      strength: { value: ghost ? 0.45 : 0.85 },
    },
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    vertexShader: /* glsl */ `
      attribute vec3 before;
      attribute vec3 after;
      attribute vec2 when;
      uniform float frame;
      uniform float span;
      uniform float wide;
      varying float vAge;
      void main() {
        vec4 at = modelViewMatrix * vec4(position, 1.0);
        vec3 way = (modelViewMatrix * vec4(after - before, 0.0)).xyz;
        vec3 across = cross(way, at.xyz);
        float size = length(across);
        vAge = (frame - when.x) / span;
        float thick = wide * clamp(1.0 - vAge, 0.0, 1.0);
        if (size > 1e-9) at.xyz += when.y * thick * across / size;
        gl_Position = projectionMatrix * at;
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 tint;
      uniform float strength;
      varying float vAge;
      void main() {
        if (vAge < 0.0 || vAge > 1.0) discard;
        gl_FragColor = vec4(tint, strength * (1.0 - vAge));
      }`,
  });
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = 3;
  return meshLayer(mesh, (tints) => {
    material.uniforms.tint.value = tints.body;
  });
}
