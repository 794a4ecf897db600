// The body: every pair of balls of every part as a tapered capsule, all of them in one draw call.

import {
  BufferAttribute, Group, InstancedBufferAttribute, InstancedBufferGeometry, Mesh, ShaderMaterial, Vector3,
} from "three";
import type { Part } from "../messages";
import { KINDS, type ShownMotion } from "../motion";
import type { Layer, Tints } from "./layer";

const AROUND = 20;
const RINGS = 6;

// A capsule whose vertices say where on it they are: around, from pole to rim, and at which end.
function capsule(): { where: Float32Array; index: number[] } {
  const where: number[] = [];
  const index: number[] = [];
  for (let ring = 0; ring < 2 * RINGS; ring++) {
    const end = ring < RINGS ? 0 : 1;
    const toRim = end === 0 ? ring / (RINGS - 1) : 1 - (ring - RINGS) / (RINGS - 1);
    for (let k = 0; k <= AROUND; k++) where.push((2 * Math.PI * k) / AROUND, toRim, end);
  }
  const row = AROUND + 1;
  for (let ring = 0; ring < 2 * RINGS - 1; ring++) {
    for (let k = 0; k < AROUND; k++) {
      const at = ring * row + k;
      index.push(at, at + row, at + 1, at + 1, at + row, at + row + 1);
    }
  }
  return { where: new Float32Array(where), index };
}

const VERTEX = /* glsl */ `
  attribute vec4 ballA;
  attribute vec4 ballB;
  attribute vec3 tint;
  varying vec3 vNormal;
  varying vec3 vTint;
  varying vec3 vToEye;
  void main() {
    vec3 way = ballB.xyz - ballA.xyz;
    float len = max(length(way), 1e-5);
    vec3 y = way / len;
    vec3 side = abs(y.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
    vec3 x = normalize(cross(side, y));
    vec3 z = cross(x, y);
    // Where both balls' hulls touch: the rim is shifted towards the smaller one.
    float rim = asin(clamp((ballA.w - ballB.w) / len, -0.98, 0.98));
    float pole = position.z < 0.5 ? -1.5707963 : 1.5707963;
    float lat = mix(pole, rim, position.y);
    vec3 n = cos(lat) * (cos(position.x) * x + sin(position.x) * z) + sin(lat) * y;
    vec4 ball = position.z < 0.5 ? ballA : ballB;
    vec4 world = modelMatrix * vec4(ball.xyz + ball.w * n, 1.0);
    vNormal = mat3(modelMatrix) * n;
    vTint = tint;
    vToEye = cameraPosition - world.xyz;
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;

const FRAGMENT = /* glsl */ `
  uniform float opacity;
  uniform vec3 toLight;
  varying vec3 vNormal;
  varying vec3 vTint;
  varying vec3 vToEye;
  void main() {
    vec3 n = normalize(vNormal);
    vec3 eye = normalize(vToEye);
    float key = max(0.0, 0.35 + 0.65 * dot(n, toLight));
    float sky = 0.5 + 0.5 * n.y;
    float rim = pow(1.0 - max(dot(n, eye), 0.0), 3.0);
    float shine = pow(max(dot(n, normalize(toLight + eye)), 0.0), 24.0);
    vec3 colour = vTint * (0.38 + 0.24 * sky + 0.5 * key) + 0.08 * shine + 0.08 * rim * sky;
    gl_FragColor = vec4(colour, opacity);
  }`;

interface Piece { a: number; b: number; ra: number; rb: number; part: Part }

function pieces(parts: Part[]): Piece[] {
  const made: Piece[] = [];
  for (const part of parts) {
    const n = part.points.length;
    for (let i = 0; i < n; i++) {
      for (let j = i + 1; j < n || (n === 1 && j === 1); j++) {
        const k = Math.min(j, n - 1);
        made.push({ a: part.points[i], b: part.points[k], ra: part.radii[i], rb: part.radii[k], part });
      }
    }
  }
  return made;
}

export function bodyLayer(motion: ShownMotion, ghost: boolean): Layer {
  const all = pieces(motion.looks.parts);
  const { where, index } = capsule();
  const geometry = new InstancedBufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(where, 3));
  geometry.setIndex(index);
  geometry.instanceCount = all.length;
  const ballA = new InstancedBufferAttribute(new Float32Array(all.length * 4), 4);
  const ballB = new InstancedBufferAttribute(new Float32Array(all.length * 4), 4);
  const tint = new InstancedBufferAttribute(new Float32Array(all.length * 3), 3);
  geometry.setAttribute("ballA", ballA);
  geometry.setAttribute("ballB", ballB);
  geometry.setAttribute("tint", tint);
  const uniforms = {
    opacity: { value: ghost ? 0.32 : 1 },
    toLight: { value: new Vector3(-0.45, 0.8, 0.4).normalize() },
  };
  const shaders = { uniforms, vertexShader: VERTEX, fragmentShader: FRAGMENT };
  const mesh = new Mesh(geometry, new ShaderMaterial({ ...shaders, transparent: ghost }));
  const object = new Group();
  mesh.frustumCulled = false;
  object.add(mesh);
  if (ghost) {
    // Depth first, so that a ghost shows its surface and not every limb behind it.
    const depth = new Mesh(geometry, new ShaderMaterial({ ...shaders, colorWrite: false }));
    depth.frustumCulled = false;
    depth.renderOrder = 1;
    mesh.renderOrder = 2;
    object.add(depth);
  }
  let tints: Tints | null = null;
  return {
    object,
    update(frame, points) {
      const [a, b, colours] = [ballA.array, ballB.array, tint.array];
      for (let k = 0; k < all.length; k++) {
        const piece = all[k];
        for (let c = 0; c < 3; c++) {
          a[4 * k + c] = points[3 * piece.a + c];
          b[4 * k + c] = points[3 * piece.b + c];
        }
        a[4 * k + 3] = piece.ra;
        b[4 * k + 3] = piece.rb;
        const colour = tints ? footTint(motion, piece.part, Math.round(frame), tints) : [0.5, 0.5, 0.5];
        for (let c = 0; c < 3; c++) colours[3 * k + c] = colour[c];
      }
      ballA.needsUpdate = ballB.needsUpdate = tint.needsUpdate = true;
    },
    paint(next) {
      tints = next;
    },
    dispose() {
      geometry.dispose();
      for (const child of object.children) ((child as Mesh).material as ShaderMaterial).dispose();
    },
  };
}

// Green for a foot that stands, red for one that slides while it should stand.
function footTint(motion: ShownMotion, part: Part, frame: number, tints: Tints): readonly number[] {
  if ((part.name !== "foot" && part.name !== "toes") || !motion.planted) return tints.body;
  const heel = part.side === "left" ? 0 : 2;
  const row = 4 * Math.min(Math.max(frame, 0), motion.frames - 1);
  const columns = part.name === "toes" ? [heel + 1] : [heel, heel + 1];
  const now = columns.filter((column) => motion.planted![row + column]);
  if (!now.length) return tints.body;
  const slides = motion.prints.some(
    (print) => print.slides && now.includes(KINDS.indexOf(print.kind as (typeof KINDS)[number])) &&
      frame >= print.first && frame <= print.last,
  );
  return slides ? tints.sliding : tints.planted;
}
