// Shadows: a soft blob under every ball, darker the nearer it is to the ground, and the body's own
// shape where the key light throws it.

import {
  Group,
  InstancedBufferAttribute,
  KeepStencilOp,
  Mesh,
  NotEqualStencilFunc,
  ReplaceStencilOp,
  ShaderMaterial,
} from "three";
import type { ShownMotion } from "../motion";
import { CAPSULE } from "./body";
import { instanced, SHADOW_Y } from "./ground";
import type { Layer } from "./layer";
import { COARSE, capsuleShape, capsulesOf, Pieces } from "./pieces";

const CONTACT = 0.2;
const THROWN = 0.13;

export function shadowLayer(motion: ShownMotion, ghost: boolean): Layer {
  const layers = ghost ? [contact(motion, 0.5)] : [contact(motion, 1), thrown(motion)];
  const object = new Group();
  object.add(...layers.map((layer) => layer.object));
  return {
    object,
    update: (frame, points) => layers.forEach((layer) => layer.update(frame, points)),
    paint: (tints) => layers.forEach((layer) => layer.paint(tints)),
    dispose: () => layers.forEach((layer) => layer.dispose()),
  };
}

// The capsules pressed flat along the light. The stencil lets every pixel darken once only.
function thrown(motion: ShownMotion): Layer {
  const pieces = new Pieces(capsulesOf(motion.looks.parts), 2, capsuleShape(COARSE));
  const material = new ShaderMaterial({
    uniforms: { shadow: { value: [0, 0, 0] }, floor: { value: motion.looks.floor }, toLight: { value: [0, 1, 0] } },
    transparent: true,
    depthWrite: false,
    stencilWrite: true,
    stencilRef: 1,
    stencilFunc: NotEqualStencilFunc,
    stencilFail: KeepStencilOp,
    stencilZFail: KeepStencilOp,
    stencilZPass: ReplaceStencilOp,
    vertexShader: /* glsl */ `
      uniform float floor;
      uniform vec3 toLight;
      varying float vFade;
      ${CAPSULE}
      void main() {
        vec3 n;
        vec4 world = modelMatrix * vec4(capsule(n), 1.0);
        float lift = max(0.0, world.y - floor);
        world.xz -= lift * toLight.xz / toLight.y;
        world.y = floor + ${SHADOW_Y / 2};
        vFade = exp(-0.45 * lift);
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 shadow;
      varying float vFade;
      void main() {
        gl_FragColor = vec4(shadow, ${THROWN} * vFade);
      }`,
  });
  const mesh = new Mesh(pieces.geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -6;
  return {
    object: mesh,
    update: (_frame, points) => pieces.place(points),
    paint(tints) {
      material.uniforms.shadow.value = tints.shadow;
      material.uniforms.toLight.value = tints.toLight;
    },
    dispose() {
      pieces.geometry.dispose();
      material.dispose();
    },
  };
}

function contact(motion: ShownMotion, share: number): Layer {
  const balls = motion.looks.parts.flatMap((part) => part.points.map((p, i) => ({ p, r: part.radii[i] })));
  const geometry = instanced(balls.length);
  const ball = new InstancedBufferAttribute(new Float32Array(balls.length * 4), 4);
  geometry.setAttribute("ball", ball);
  const material = new ShaderMaterial({
    uniforms: {
      shadow: { value: [0, 0, 0] },
      floor: { value: motion.looks.floor },
      tall: { value: motion.looks.height },
      strength: { value: CONTACT * share },
    },
    transparent: true,
    depthWrite: false,
    vertexShader: /* glsl */ `
      attribute vec4 ball;
      uniform float floor;
      uniform float tall;
      varying vec2 vAt;
      varying float vNear;
      void main() {
        float lift = max(0.0, ball.y - floor) / tall;
        vNear = exp(-4.5 * lift);
        vAt = position.xz;
        float wide = ball.w * (1.7 + 2.2 * lift);
        vec3 at = vec3(ball.x + wide * position.x, floor + ${SHADOW_Y}, ball.z + wide * position.z);
        gl_Position = projectionMatrix * modelViewMatrix * vec4(at, 1.0);
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 shadow;
      uniform float strength;
      varying vec2 vAt;
      varying float vNear;
      void main() {
        float soft = smoothstep(1.0, 0.1, length(vAt));
        gl_FragColor = vec4(shadow, strength * soft * vNear);
      }`,
  });
  const mesh = new Mesh(geometry, material);
  mesh.frustumCulled = false;
  mesh.renderOrder = -5;
  return {
    object: mesh,
    update(_frame, points) {
      const to = ball.array;
      balls.forEach(({ p, r }, k) => {
        to[4 * k] = points[3 * p];
        to[4 * k + 1] = points[3 * p + 1];
        to[4 * k + 2] = points[3 * p + 2];
        to[4 * k + 3] = r;
      });
      ball.needsUpdate = true;
    },
    paint(tints) {
      material.uniforms.shadow.value = tints.shadow;
    },
    dispose() {
      geometry.dispose();
      material.dispose();
    },
  };
}
