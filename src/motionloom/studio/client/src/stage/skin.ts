// The skin of a file, deformed by its joints on the graphics card, in the colour of its role.

import {
  BufferAttribute,
  BufferGeometry,
  DataTexture,
  DoubleSide,
  FloatType,
  Group,
  Mesh,
  NearestFilter,
  RGBAFormat,
  ShaderMaterial,
} from "three";
import type { ShownMotion, Skin } from "../motion";
import { FRAGMENT } from "./body";
import type { Layer } from "./layer";

const VERTEX = /* glsl */ `
  attribute vec4 carriers;
  attribute vec4 shares;
  uniform sampler2D bones;
  uniform vec3 tint;
  varying vec3 vNormal;
  varying vec3 vTint;
  varying vec3 vWorld;
  void main() {
    vec3 place = vec3(0.0), n = vec3(0.0);
    for (int k = 0; k < 4; k++) {
      int j = int(carriers[k] + 0.5);
      for (int row = 0; row < 3; row++) {
        vec4 line = texelFetch(bones, ivec2(row, j), 0);
        place[row] += shares[k] * dot(line, vec4(position, 1.0));
        n[row] += shares[k] * dot(line.xyz, normal);
      }
    }
    vec4 world = modelMatrix * vec4(place, 1.0);
    vNormal = mat3(modelMatrix) * normalize(n);
    vTint = tint;
    vWorld = world.xyz;
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;

export function skinLayer(motion: ShownMotion, ghost: boolean): Layer {
  const object = new Group();
  const { skin, poses } = motion;
  if (!skin || !poses) return { object, update: () => undefined, paint: () => undefined, dispose: () => undefined };
  const count = skin.binds.length / 12;
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(skin.points, 3));
  geometry.setAttribute("normal", new BufferAttribute(skin.normals, 3));
  geometry.setAttribute("carriers", new BufferAttribute(skin.bones, 4));
  geometry.setAttribute("shares", new BufferAttribute(skin.weights, 4));
  geometry.setIndex(new BufferAttribute(Uint32Array.from(skin.triangles), 1));
  const lines = new Float32Array(12 * count);
  const bones = new DataTexture(
    lines,
    3,
    count,
    RGBAFormat,
    FloatType,
    undefined,
    undefined,
    undefined,
    NearestFilter,
    NearestFilter,
  );
  const uniforms = {
    bones: { value: bones },
    tint: { value: [0.5, 0.5, 0.5] },
    ghost: { value: ghost ? 1 : 0 },
    toLight: { value: [0, 1, 0] },
  };
  const materials = (ghost ? [true, false] : [false]).map((depthOnly) => {
    const material = new ShaderMaterial({
      uniforms,
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      side: DoubleSide,
      transparent: ghost && !depthOnly,
      colorWrite: !depthOnly,
    });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = depthOnly ? 1 : ghost ? 2 : 0;
    object.add(mesh);
    return material;
  });
  return {
    object,
    update(frame) {
      bendBones(skin, poses, motion.frames, frame, lines);
      bones.needsUpdate = true;
    },
    paint(tints) {
      uniforms.tint.value = tints.body;
      uniforms.toLight.value = tints.toLight;
    },
    dispose() {
      geometry.dispose();
      bones.dispose();
      for (const material of materials) material.dispose();
    },
  };
}

// From the mesh into the world at a fractional frame: pose times bind, three rows of four a bone.
export function bendBones(
  { binds }: Skin,
  poses: Float32Array,
  frames: number,
  frame: number,
  out: Float32Array,
): void {
  const count = binds.length / 12;
  const at = Math.min(Math.max(frame, 0), frames - 1);
  const low = Math.floor(at),
    high = Math.min(low + 1, frames - 1),
    t = at - low;
  const pose = [0, 0, 0, 0, 0, 0, 0];
  for (let j = 0; j < count; j++) {
    const [a, b] = [7 * (low * count + j), 7 * (high * count + j)];
    let along = 0;
    for (let c = 3; c < 7; c++) along += poses[a + c] * poses[b + c];
    for (let c = 0; c < 7; c++) {
      const to = c > 2 && along < 0 ? -poses[b + c] : poses[b + c];
      pose[c] = poses[a + c] + t * (to - poses[a + c]);
    }
    const size = Math.hypot(pose[3], pose[4], pose[5], pose[6]);
    const [w, x, y, z] = [pose[3] / size, pose[4] / size, pose[5] / size, pose[6] / size];
    const turn = [
      1 - 2 * (y * y + z * z),
      2 * (x * y - w * z),
      2 * (x * z + w * y),
      2 * (x * y + w * z),
      1 - 2 * (x * x + z * z),
      2 * (y * z - w * x),
      2 * (x * z - w * y),
      2 * (y * z + w * x),
      1 - 2 * (x * x + y * y),
    ];
    for (let row = 0; row < 3; row++) {
      for (let column = 0; column < 4; column++) {
        let sum = column === 3 ? pose[row] : 0;
        for (let k = 0; k < 3; k++) sum += turn[3 * row + k] * binds[12 * j + 4 * k + column];
        out[12 * j + 4 * row + column] = sum;
      }
    }
  }
}
