// Figure and ground: draws one clip at one moment into a canvas.

import { project } from "./camera.js";

const DIRECTIONS = 24;
const RAYS = Array.from({ length: DIRECTIONS }, (_, k) => {
  const angle = (2 * Math.PI * k) / DIRECTIONS;
  return [Math.cos(angle), Math.sin(angle)];
});

// Corners of the convex outline around discs [x, y, radius]: in each direction, the farthest reach.
export function ballHull(discs) {
  return RAYS.map(([cx, cy]) => {
    let best = discs[0];
    let reach = -Infinity;
    for (const disc of discs) {
      const far = disc[0] * cx + disc[1] * cy + disc[2];
      if (far > reach) [reach, best] = [far, disc];
    }
    return [best[0] + best[2] * cx, best[1] + best[2] * cy];
  });
}

// Size, shift towards the light, brightness of the nested hulls that shade a part.
const LIGHT_LAYERS = [[1, 0, 0], [0.86, 0.06, 0.06], [0.7, 0.14, 0.12], [0.5, 0.25, 0.18]];

function trace(context, corners) {
  corners.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
}

// "#rrggbb" mixed with some of another.
export function mix(colour, other, amount) {
  const parts = [1, 3, 5].map((i) => {
    const [a, b] = [parseInt(colour.slice(i, i + 2), 16), parseInt(other.slice(i, i + 2), 16)];
    return Math.round(a + (b - a) * amount);
  });
  return `rgb(${parts.join(",")})`;
}

// A colour under light, and paler the farther back it is.
function shade(base, palette, back, light) {
  const parts = [1, 3, 5].map((i) => {
    const [own, haze] = [parseInt(base.slice(i, i + 2), 16), parseInt(palette.haze.slice(i, i + 2), 16)];
    const lit = own + (255 - own) * light * palette.shine;
    return Math.round(lit + (haze - lit) * back);
  });
  return `rgb(${parts.join(",")})`;
}

// World points of a clip at a fractional frame, three numbers each.
export function pointsAt(clip, frame) {
  const low = Math.min(Math.floor(frame), clip.frames - 1);
  const high = Math.min(low + 1, clip.frames - 1);
  const t = frame - low;
  const size = clip.points * 3;
  const out = new Float32Array(size);
  for (let i = 0; i < size; i++) {
    const a = clip.positions[low * size + i];
    out[i] = a + t * (clip.positions[high * size + i] - a);
  }
  return out;
}

export function drawGround(context, lens, clip, palette, middle) {
  const reach = 9;
  const [cx, cz] = [Math.round(middle[0]), Math.round(middle[2])];
  context.lineWidth = 1;
  for (let i = -reach; i <= reach; i++) {
    for (let k = -reach; k < reach; k++) {
      // Lines fade out towards the rim, so that the floor has no edge.
      const fade = 1 - Math.hypot(i, k + 0.5) / reach;
      if (fade <= 0) continue;
      context.globalAlpha = Math.min(1, 1.4 * fade);
      context.strokeStyle = palette.grid;
      segment(context, lens, clip.floor, cx + i, cz + k, cx + i, cz + k + 1);
      segment(context, lens, clip.floor, cx + k, cz + i, cx + k + 1, cz + i);
    }
  }
  context.globalAlpha = 1;
}

function segment(context, lens, y, x0, z0, x1, z1) {
  const [a, b] = [project(lens, x0, y, z0), project(lens, x1, y, z1)];
  if (!a || !b) return;
  context.beginPath();
  context.moveTo(a[0], a[1]);
  context.lineTo(b[0], b[1]);
  context.stroke();
}

// The root's way on the ground: bold behind, faint ahead, a tick every second.
export function drawRibbon(context, lens, clip, palette, frame) {
  const step = Math.max(1, Math.round(clip.fps / 30));
  const stride = clip.points * 3;
  const spot = (f) => {
    const at = Math.min(f, clip.frames - 1) * stride + clip.root * 3;
    return project(lens, clip.positions[at], clip.floor, clip.positions[at + 2]);
  };
  const here = Math.round(frame / step) * step;
  context.strokeStyle = palette[clip.colour];
  context.lineJoin = "round";
  for (const [from, to, alpha] of [[0, here, 0.45], [here, clip.frames - 1, 0.14]]) {
    context.globalAlpha = alpha;
    context.beginPath();
    let joined = false;
    for (let f = from; f <= to; f += step) {
      const at = spot(f);
      if (!at) joined = false;
      else if (joined) context.lineTo(at[0], at[1]);
      else context.moveTo(at[0], at[1]);
      if (at) [joined, context.lineWidth] = [true, Math.max(1.2, 0.012 * at[3])];
    }
    context.stroke();
  }
  context.fillStyle = palette[clip.colour];
  for (let second = 0; second * clip.fps < clip.frames; second++) {
    const dot = spot(Math.round(second * clip.fps));
    if (!dot) continue;
    context.globalAlpha = second * clip.fps <= frame ? 0.6 : 0.25;
    context.beginPath();
    context.arc(dot[0], dot[1], Math.max(1.5, 0.02 * dot[3]), 0, 2 * Math.PI);
    context.fill();
  }
  context.globalAlpha = 1;
}

// Where heels and balls stood: green, or red and hollow where they slid.
export function drawPrints(context, lens, clip, palette, frame) {
  for (const print of clip.prints) {
    const toe = print.kind.endsWith("toe");
    const [long, wide] = toe ? [0.062, 0.042] : [0.036, 0.031];
    const [s, c] = [Math.sin(print.heading), Math.cos(print.heading)];
    const corners = RAYS.map(([u, v]) => {
      const [ahead, aside] = [u * long, v * wide];
      const [x, z] = [print.place[0] + s * ahead + c * aside, print.place[2] + c * ahead - s * aside];
      return project(lens, x, print.ground, z);
    });
    if (corners.some((corner) => !corner)) continue;
    const here = frame >= print.first && frame <= print.last + 1;
    context.beginPath();
    trace(context, corners);
    context.globalAlpha = here ? 0.95 : frame > print.last ? 0.42 : 0.16;
    context.fillStyle = context.strokeStyle = print.slides ? palette.sliding : palette.planted;
    context.lineWidth = 1.5;
    if (print.slides) context.stroke();
    else context.fill();
  }
  context.globalAlpha = 1;
}

function drawShadow(context, lens, clip, points, palette) {
  // One path for the whole body, so that overlapping limbs do not darken twice; wide and faint
  // first, then a core that is darker the nearer a limb is to the ground.
  for (const [spread, alpha] of [[1.9, 0.05], [1.35, 0.07], [0.9, 0.09]]) {
    context.beginPath();
    for (const part of clip.parts) {
      const discs = part.points.map((p, i) => {
        const lift = Math.max(0, points[p * 3 + 1] - clip.floor) / clip.height;
        const radius = part.radii[i] * (spread - 0.35 * Math.min(1, lift));
        return [points[p * 3] + 0.05 * lift, points[p * 3 + 2] + 0.05 * lift, radius];
      });
      const corners = ballHull(discs).map(([x, z]) => project(lens, x, clip.floor, z));
      if (corners.every(Boolean)) trace(context, corners);
    }
    context.fillStyle = palette.shadow;
    context.globalAlpha = alpha;
    context.fill("nonzero");
  }
  context.globalAlpha = 1;
}

function footColour(clip, part, frame, palette) {
  if (part.name !== "foot" && part.name !== "toes") return palette[clip.colour];
  const heel = part.side === "left" ? 0 : 2;
  const kinds = ["left_heel", "left_toe", "right_heel", "right_toe"];
  const columns = part.name === "toes" ? [heel + 1] : [heel, heel + 1];
  const now = clip.prints.filter(
    (print) => columns.includes(kinds.indexOf(print.kind)) && frame >= print.first && frame < print.last + 1,
  );
  if (!now.length) return palette[clip.colour];
  return now.some((print) => print.slides) ? palette.sliding : palette.planted;
}

export function drawFigure(context, lens, clip, palette, frame) {
  const points = pointsAt(clip, frame);
  if (lens.toward[1] > -0.05) drawShadow(context, lens, clip, points, palette);
  const seen = [];
  for (const part of clip.parts) {
    const discs = [];
    let near = 0;
    for (let i = 0; i < part.points.length; i++) {
      const p = part.points[i] * 3;
      const at = project(lens, points[p], points[p + 1], points[p + 2]);
      if (!at) break;
      discs.push([at[0], at[1], part.radii[i] * at[3]]);
      near += at[2] / part.points.length;
    }
    // The neck goes behind the chest that it grows out of, whichever side they are seen from.
    if (part.name === "neck") near -= 0.08 * clip.height;
    if (discs.length === part.points.length) seen.push({ part, discs, near });
  }
  seen.sort((a, b) => a.near - b.near);
  const [far, close] = [seen[0]?.near ?? 0, seen.at(-1)?.near ?? 0];
  for (const { part, discs, near } of seen) {
    const back = (0.3 * (close - near)) / Math.max(close - far, 0.15 * clip.height);
    const base = footColour(clip, part, Math.round(frame), palette);
    // Soft key light from above left: nested hulls, each smaller, shifted and brighter.
    for (const [size, shift, light] of LIGHT_LAYERS) {
      const lit = discs.map(([x, y, r]) => [x - shift * r, y - 1.2 * shift * r, size * r]);
      context.beginPath();
      trace(context, ballHull(lit));
      context.fillStyle = shade(base, palette, back, light);
      context.fill();
      if (size === 1) {
        // Limbs stand out from what is behind them; the pieces of the trunk run into one another.
        context.strokeStyle = mix(base, palette.paper, part.side === "middle" ? 0.25 : 0.75);
        context.lineWidth = 0.8;
        context.stroke();
      }
    }
  }
}
