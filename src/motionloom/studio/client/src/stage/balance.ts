// Balance: what the feet support, the centre of mass over it with its plumb line, and the zero moment
// point, where the ground would have to push. Green while it lies in the support, orange outside.

import {
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  DynamicDrawUsage,
  Group,
  InstancedBufferAttribute,
  Mesh,
  ShaderMaterial,
} from "three";
import type { ShownMotion } from "../motion";
import { instanced } from "./ground";
import { hullOf, within } from "./hull";
import type { Layer, Tints } from "./layer";

const SUPPORT_Y = 0.004;
const MARK_Y = 0.009;
const CORNERS = 16;
const BALL = 0,
  LINE = 1,
  CROSS = 2; // kinds of marks

export function balanceLayer(motion: ShownMotion, ghost: boolean): Layer {
  const { com, zmp, support } = motion;
  const { floor } = motion.looks;
  const strength = ghost ? 0.4 : 1;
  const corners = support ? support.length / motion.frames / 2 : 0;

  const area = new BufferGeometry();
  const spots = new BufferAttribute(new Float32Array(3 * CORNERS), 3).setUsage(DynamicDrawUsage);
  area.setAttribute("position", spots);
  area.setIndex(Array.from({ length: CORNERS - 2 }, (_, k) => [0, k + 1, k + 2]).flat());
  const areaMaterial = new ShaderMaterial({
    uniforms: { tint: { value: [0, 0, 0] }, strength: { value: 0.3 * strength } },
    transparent: true,
    depthWrite: false,
    side: DoubleSide,
    vertexShader: "void main() { gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
    fragmentShader: "uniform vec3 tint; uniform float strength; void main() { gl_FragColor = vec4(tint, strength); }",
  });
  const areaMesh = new Mesh(area, areaMaterial);
  areaMesh.renderOrder = -2;

  const marks = instanced(3);
  const place = new InstancedBufferAttribute(new Float32Array(3 * 4), 4);
  const kind = new InstancedBufferAttribute(new Float32Array([BALL, LINE, CROSS]), 1);
  marks.setAttribute("place", place);
  marks.setAttribute("kind", kind);
  const markMaterial = new ShaderMaterial({
    uniforms: {
      floor: { value: floor + MARK_Y },
      size: { value: 0.022 * motion.looks.height },
      strength: { value: strength },
      tint: { value: [0, 0, 0] },
      state: { value: [0, 1, 0] },
    },
    transparent: true,
    depthWrite: false,
    depthTest: false,
    side: DoubleSide, // seen through the body: it lies in it
    vertexShader: /* glsl */ `
      attribute vec4 place;
      attribute float kind;
      uniform float floor;
      uniform float size;
      varying vec2 vAt;
      varying float vKind;
      void main() {
        vKind = kind;
        vAt = position.xz;
        vec4 eye = modelViewMatrix * vec4(place.xyz, 1.0);
        if (kind < 0.5) eye.xy += size * position.xz;
        else if (kind < 1.5) {
          vec3 on = vec3(place.x, mix(floor, place.y, 0.5 - 0.5 * position.z), place.z);
          eye = modelViewMatrix * vec4(on, 1.0);
          eye.x += 0.1 * size * position.x;
        } else eye = modelViewMatrix * vec4(place.x + 1.7 * size * position.x, floor, place.z + 1.7 * size * position.z, 1.0);
        gl_Position = place.w > 0.5 ? projectionMatrix * eye : vec4(2.0, 2.0, 2.0, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 tint;
      uniform vec3 state;
      uniform float strength;
      varying vec2 vAt;
      varying float vKind;
      void main() {
        float r = length(vAt);
        vec4 colour = vec4(state, 1.0);
        if (vKind < 0.5) {
          // The drawing office's sign for a centre of mass: quarters in turn.
          if (r > 1.0) discard;
          colour.rgb = r > 0.8 || vAt.x * vAt.y > 0.0 ? vec3(0.1, 0.11, 0.14) : vec3(0.98);
        } else if (vKind < 1.5) {
          colour = vec4(tint, 0.65);
        } else {
          bool ring = r < 1.0 && r > 0.72, arm = r < 1.0 && min(abs(vAt.x), abs(vAt.y)) < 0.13;
          if (!ring && !arm) discard;
        }
        gl_FragColor = vec4(colour.rgb, colour.a * strength);
      }`,
  });
  const markMesh = new Mesh(marks, markMaterial);
  markMesh.renderOrder = 4;
  const object = new Group();
  for (const mesh of [areaMesh, markMesh]) {
    mesh.frustumCulled = false;
    object.add(mesh);
  }
  let tints: Tints | null = null;

  function update(frame: number): void {
    const at = Math.min(Math.max(frame, 0), motion.frames - 1);
    const low = Math.floor(at),
      high = Math.min(low + 1, motion.frames - 1),
      near = Math.round(at);
    const mix = (values: ArrayLike<number>, width: number, c: number): number =>
      values[width * low + c] + (at - low) * (values[width * high + c] - values[width * low + c]);
    const from = 2 * corners * near;
    const hull = support ? hullOf(support, from, corners).slice(0, CORNERS) : [];
    for (let k = 0; k < CORNERS; k++) {
      const p = hull[Math.min(k, hull.length - 1)];
      if (hull.length) spots.setXYZ(k, support![from + 2 * p], floor + SUPPORT_Y, support![from + 2 * p + 1]);
    }
    spots.needsUpdate = true;
    areaMesh.visible = hull.length > 2;
    const [x, y, z] = com ? [0, 1, 2].map((c) => mix(com, 3, c)) : [NaN, NaN, NaN];
    const seen = Number.isFinite(x + y + z) ? 1 : 0;
    place.setXYZW(BALL, x, y, z, seen);
    place.setXYZW(LINE, x, y, z, seen);
    const [zx, zz] = zmp ? [zmp[2 * near], zmp[2 * near + 1]] : [NaN, NaN];
    place.setXYZW(CROSS, zx, floor, zz, Number.isFinite(zx + zz) ? 1 : 0);
    place.needsUpdate = true;
    if (!tints) return;
    const outside = hull.length > 2 && Number.isFinite(zx + zz) && !within(support!, from, hull, zx, zz);
    const state = outside ? tints.warning : tints.planted;
    areaMaterial.uniforms.tint.value = state;
    markMaterial.uniforms.state.value = state;
  }

  return {
    object,
    update,
    paint(next) {
      tints = next;
      markMaterial.uniforms.tint.value = next.body;
    },
    dispose() {
      for (const each of [area, marks, areaMaterial, markMaterial]) each.dispose();
    },
  };
}
