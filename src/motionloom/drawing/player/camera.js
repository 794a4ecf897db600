// Camera: orbits a target, projects world metres to pixels. Y is up; heading 0 faces +Z.

const FIELD_OF_VIEW = 0.5; // radians, top to bottom: long enough a lens that limbs keep their size

export function createCamera() {
  return { yaw: -0.9, pitch: 0.22, zoom: 1, pan: [0, 0, 0], target: [0, 1, 0], height: 1.75 };
}

// Turn to a named view of someone who faces `heading`; the same four that still pictures have.
export function lookFrom(camera, name, heading) {
  const views = {
    side: [heading - Math.PI / 2, 0.06],
    front: [heading, 0.06],
    top: [heading - Math.PI / 2, 1.5],
    "three-quarter": [heading - 0.9, 0.3],
  };
  [camera.yaw, camera.pitch] = views[name] ?? views["three-quarter"];
  camera.pan = [0, 0, 0];
  camera.zoom = 1;
}

export function orbit(camera, dx, dy) {
  camera.yaw -= dx * 0.008;
  camera.pitch = Math.min(1.55, Math.max(-0.15, camera.pitch + dy * 0.008));
}

export function zoomBy(camera, factor) {
  camera.zoom = Math.min(8, Math.max(0.12, camera.zoom * factor));
}

// Slide the point looked at by a drag of (dx, dy) pixels.
export function panBy(camera, lens, dx, dy) {
  const metres = lens.distance / lens.focal;
  for (let i = 0; i < 3; i++) {
    camera.pan[i] += (-lens.right[i] * dx + lens.up[i] * dy) * metres;
  }
}

// Axes and scale of a camera in a viewport {x, y, width, height}, computed once a frame.
export function lensOf(camera, viewport) {
  const [sy, cy] = [Math.sin(camera.yaw), Math.cos(camera.yaw)];
  const [sp, cp] = [Math.sin(camera.pitch), Math.cos(camera.pitch)];
  const toward = [cp * sy, sp, cp * cy];
  const right = [cy, 0, -sy];
  const up = [-sp * sy, cp, -sp * cy];
  const reach = Math.max(1.32, (1.2 * viewport.height) / viewport.width) * camera.height;
  const distance = reach / (2 * Math.tan(FIELD_OF_VIEW / 2)) / camera.zoom;
  return {
    toward,
    right,
    up,
    distance,
    focal: viewport.height / (2 * Math.tan(FIELD_OF_VIEW / 2)),
    target: camera.target.map((value, i) => value + camera.pan[i]),
    centre: [viewport.x + viewport.width / 2, viewport.y + viewport.height / 2],
  };
}

// [x, y, nearness, pixels per metre] of a world point; null behind the eye.
export function project(lens, x, y, z) {
  const [dx, dy, dz] = [x - lens.target[0], y - lens.target[1], z - lens.target[2]];
  const near = dx * lens.toward[0] + dy * lens.toward[1] + dz * lens.toward[2];
  const depth = lens.distance - near;
  if (depth < 0.05) return null;
  const scale = lens.focal / depth;
  const across = dx * lens.right[0] + dz * lens.right[2];
  const above = dx * lens.up[0] + dy * lens.up[1] + dz * lens.up[2];
  return [lens.centre[0] + across * scale, lens.centre[1] - above * scale, near, scale];
}
