// Timeline: ruler with loop range, four contact lanes, foot speed; scrubbing by hand.

const KINDS = ["left_heel", "left_toe", "right_heel", "right_toe"];
const LABELS = ["L heel", "L toe", "R heel", "R toe"];
const RULER = 20;
const LANE = 15;
const LEGEND = 14;
const CURVE = 34;
export const TIMELINE_HEIGHT = RULER + 4 * LANE + LEGEND + CURVE + 10;

const gutterOf = (width) => (width < 520 ? 50 : 66);

// Draws the selected clip's lanes. `state` is {time, duration, range: [first, last] | null} in seconds.
export function drawTimeline(canvas, clip, state, palette) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(TIMELINE_HEIGHT * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const gutter = gutterOf(width);
  const span = Math.max(width - gutter - 12, 1);
  const x = (seconds) => gutter + (span * seconds) / state.duration;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";

  drawRuler(context, state, palette, x, span);
  LABELS.forEach((label, lane) => {
    const top = RULER + lane * LANE;
    context.fillStyle = palette.label;
    context.textAlign = "right";
    context.fillText(label, gutter - 8, top + LANE / 2);
    context.fillStyle = palette.lane;
    context.fillRect(gutter, top + 2, span, LANE - 4);
  });
  for (const print of clip.prints) {
    const top = RULER + KINDS.indexOf(print.kind) * LANE;
    const [left, right] = [x(print.first / clip.fps), x((print.last + 1) / clip.fps)];
    context.fillStyle = print.slides ? palette.sliding : palette.planted;
    context.beginPath();
    context.roundRect(left, top + 2, Math.max(right - left - 1, 1.5), LANE - 4, 3);
    context.fill();
    // Colour is not the only sign: a sliding plant is split by a line.
    if (print.slides) {
      context.fillStyle = palette.paper;
      context.fillRect(left, top + LANE / 2 - 0.75, right - left - 1, 1.5);
    }
  }
  drawSpeeds(context, clip, palette, x, gutter, span);
  const now = x(state.time);
  context.fillStyle = palette.text;
  context.fillRect(now - 0.75, 4, 1.5, TIMELINE_HEIGHT - 8);
  context.beginPath();
  context.arc(now, 8, 4.5, 0, 2 * Math.PI);
  context.fill();
}

function drawRuler(context, state, palette, x, span) {
  if (state.range) {
    const [left, right] = state.range.map(x);
    context.fillStyle = palette.range;
    context.fillRect(left, 2, right - left, RULER - 6);
  }
  const steps = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];
  const step = steps.find((s) => (span * s) / state.duration > 46) ?? 300;
  context.textAlign = "left";
  for (let n = 0; n * step <= state.duration + 1e-9; n++) {
    const left = x(n * step);
    context.fillStyle = palette.grid;
    context.fillRect(left, 3, 1, TIMELINE_HEIGHT - 10);
    context.fillStyle = palette.label;
    const text = `${Number((n * step).toFixed(2))} s`;
    if (left + 30 < x(state.duration) + 12) context.fillText(text, left + 4, 10);
  }
}

function drawSpeeds(context, clip, palette, x, gutter, span) {
  const top = RULER + 4 * LANE + LEGEND + 4;
  context.fillStyle = palette.label;
  context.textAlign = "right";
  context.fillText("speed", gutter - 8, top + CURVE / 2);
  context.fillStyle = palette.lane;
  context.fillRect(gutter, top, span, CURVE);
  if (!clip.speeds) return;
  const most = Math.max(1, Math.ceil(clip.speeds.reduce((a, b) => Math.max(a, b), 0)));
  const step = Math.max(1, Math.floor(clip.frames / Math.max(span, 1)));
  [[1, [], 1.4], [3, [4, 3], 1.4]].forEach(([column, dash, thick]) => {
    context.setLineDash(dash);
    context.lineWidth = thick;
    context.strokeStyle = palette.text;
    context.globalAlpha = column === 1 ? 0.85 : 0.55;
    context.beginPath();
    for (let f = 0; f < clip.frames; f += step) {
      const high = top + CURVE - 2 - ((CURVE - 4) * Math.min(clip.speeds[f * 4 + column], most)) / most;
      if (f) context.lineTo(x(f / clip.fps), high);
      else context.moveTo(x(0), high);
    }
    context.stroke();
  });
  context.setLineDash([]);
  context.globalAlpha = 1;
  context.fillStyle = palette.label;
  context.textAlign = "left";
  context.fillText(`up to ${most} m/s:  —  L toe   - -  R toe`, gutter + 2, top - 7);
}

// Scrub in the lanes; drag in the ruler to set a loop range, double click there to clear it.
export function handleTimeline(canvas, state, changed) {
  const secondsAt = (event) => {
    const box = canvas.getBoundingClientRect();
    const gutter = gutterOf(box.width);
    const part = (event.clientX - box.left - gutter) / Math.max(box.width - gutter - 12, 1);
    return Math.min(Math.max(part, 0), 1) * state.duration;
  };
  let start = null;
  let ranging = false;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    start = secondsAt(event);
    ranging = event.offsetY < RULER;
    if (!ranging) changed({ time: start, scrub: true });
  });
  canvas.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const now = secondsAt(event);
    if (!ranging) changed({ time: now, scrub: true });
    else if (Math.abs(now - start) > 0.03) changed({ range: [Math.min(start, now), Math.max(start, now)] });
  });
  const release = (event) => {
    if (start !== null && ranging && Math.abs(secondsAt(event) - start) <= 0.03) changed({ time: start });
    start = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", () => (start = null));
  canvas.addEventListener("dblclick", (event) => event.offsetY < RULER && changed({ range: null }));
}
