// The body: tapered capsules with some muscle, closed by flat faces where three balls meet. Two draw
// calls whatever the skeleton; a ghost takes two more, so that it shows only its nearest surface.

import { DoubleSide, FrontSide, Group, type InstancedBufferGeometry, Mesh, ShaderMaterial, type Side } from "three";
import type { Part } from "../messages";
import { KINDS, type ShownMotion } from "../motion";
import type { Layer, Tints } from "./layer";
import { capsuleShape, capsulesOf, faceShape, facesOf, Pieces } from "./pieces";

const OUT = /* glsl */ `
  attribute vec4 core;
  varying vec3 vNormal;
  varying vec3 vTint;
  varying vec3 vWorld;
  void put(vec3 place, vec3 normal, vec3 tint) {
    vec4 world = modelMatrix * vec4(place, 1.0);
    vec3 around = normalize(place - core.xyz + 1e-6);
    vNormal = mat3(modelMatrix) * normalize(mix(normal, around, core.w));
    vTint = tint;
    vWorld = world.xyz;
    gl_Position = projectionMatrix * viewMatrix * world;
  }`;

export const CAPSULE = /* glsl */ `
  attribute vec4 ball0;
  attribute vec4 ball1;
  attribute vec3 tint;
  vec3 capsule(out vec3 n) {
    vec3 way = ball1.xyz - ball0.xyz;
    float len = max(length(way), 1e-5);
    vec3 y = way / len;
    vec3 side = abs(y.y) < 0.9 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0);
    vec3 x = normalize(cross(side, y));
    vec3 z = cross(x, y);
    // Where both balls' hulls touch: the rim is shifted towards the smaller one.
    float rim = asin(clamp((ball0.w - ball1.w) / len, -0.98, 0.98));
    float pole = position.z < 0.5 ? -1.5707963 : 1.5707963;
    float lat = mix(pole, rim, position.y);
    n = cos(lat) * (cos(position.x) * x + sin(position.x) * z) + sin(lat) * y;
    vec4 ball = position.z < 0.5 ? ball0 : ball1;
    return ball.xyz + ball.w * n;
  }`;

const CAPSULE_VERTEX = /* glsl */ `${OUT}${CAPSULE}
  void main() {
    vec3 n;
    vec3 place = capsule(n);
    put(place, n, tint);
  }`;

// The plane that touches three balls has the normal n with n.c + r the same for all of them.
const FACE_VERTEX = /* glsl */ `${OUT}
  attribute vec4 ball0;
  attribute vec4 ball1;
  attribute vec4 ball2;
  attribute vec3 tint;
  void main() {
    vec3 u = ball1.xyz - ball0.xyz, v = ball2.xyz - ball0.xyz;
    vec3 up = cross(u, v);
    float area = dot(up, up);
    vec2 want = vec2(ball0.w - ball1.w, ball0.w - ball2.w);
    vec3 flatPart = (want.x * cross(v, up) + want.y * cross(up, u)) / max(area, 1e-12);
    float rest = 1.0 - dot(flatPart, flatPart);
    vec3 n = flatPart + position.y * sqrt(max(rest, 0.0)) * up * inversesqrt(max(area, 1e-12));
    vec4 ball = position.x < 0.5 ? ball0 : position.x < 1.5 ? ball1 : ball2;
    // No such plane where one ball swallows another, or where they stand in a row.
    float r = rest > 0.0 && area > 1e-9 ? ball.w : 0.0;
    put(ball.xyz + r * n, n, tint);
  }`;

export const FRAGMENT = /* glsl */ `
  uniform float ghost;
  uniform vec3 toLight;
  varying vec3 vNormal;
  varying vec3 vTint;
  varying vec3 vWorld;
  void main() {
    vec3 n = normalize(vNormal);
    vec3 eye = normalize(cameraPosition - vWorld);
    float facing = max(dot(n, eye), 0.0);
    float lit = dot(n, toLight);
    float key = smoothstep(-0.35, 1.0, lit); // wrapped: skin has no hard edge of light
    float sky = 0.5 + 0.5 * n.y;
    float bounce = max(0.0, -n.y) * 0.12;
    float rim = pow(1.0 - facing, 3.0);
    float shine = pow(max(dot(n, normalize(toLight + eye)), 0.0), 18.0);
    vec3 warm = vec3(1.03, 1.0, 0.96), cool = vec3(0.94, 0.98, 1.06);
    vec3 colour = vTint * (0.34 * mix(vec3(1.0), cool, 0.7) + 0.22 * sky * cool + 0.56 * key * warm + bounce);
    colour += 0.05 * shine + 0.12 * rim * sky * cool;
    // A ghost looks like glass: its outline is visible, and so is what is behind it.
    float alpha = mix(1.0, 0.2 + 0.62 * pow(1.0 - facing, 1.6), ghost);
    gl_FragColor = vec4(mix(colour, vTint * (0.85 + 0.3 * key), 0.7 * ghost), alpha);
  }`;

export function bodyLayer(motion: ShownMotion, ghost: boolean): Layer {
  const { parts } = motion.looks;
  const capsules = new Pieces(capsulesOf(parts), 2, capsuleShape());
  const faces = new Pieces(facesOf(parts), 3, faceShape());
  const uniforms = { ghost: { value: ghost ? 1 : 0 }, toLight: { value: [0, 1, 0] } };
  const object = new Group();
  const materials: ShaderMaterial[] = [];
  function add(geometry: InstancedBufferGeometry, vertexShader: string, side: Side, depthOnly: boolean): void {
    const material = new ShaderMaterial({
      uniforms,
      vertexShader,
      fragmentShader: FRAGMENT,
      side,
      transparent: ghost && !depthOnly,
      colorWrite: !depthOnly,
    });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = depthOnly ? 1 : ghost ? 2 : 0;
    mesh.visible = geometry.instanceCount > 0;
    materials.push(material);
    object.add(mesh);
  }
  for (const depthOnly of ghost ? [true, false] : [false]) {
    add(capsules.geometry, CAPSULE_VERTEX, FrontSide, depthOnly); // closed: their insides never show
    add(faces.geometry, FACE_VERTEX, DoubleSide, depthOnly);
  }
  let tints: Tints | null = null;
  return {
    object,
    update(frame, points) {
      for (const each of [capsules, faces]) {
        each.place(points);
        if (tints) each.colour((part) => footTint(motion, part, Math.round(frame), tints!));
      }
    },
    paint(next) {
      tints = next;
      uniforms.toLight.value = next.toLight;
    },
    dispose() {
      capsules.geometry.dispose();
      faces.geometry.dispose();
      for (const material of materials) material.dispose();
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
    (print) =>
      print.slides &&
      now.includes(KINDS.indexOf(print.kind as (typeof KINDS)[number])) &&
      frame >= print.first &&
      frame <= print.last,
  );
  return slides ? tints.sliding : tints.planted;
}
