// Time across, for everything on the timeline.

export const GUTTER = 64; // pixels left of the lanes, for their names
const RIGHT = 10;

export interface Scale {
  width: number;
  duration: number;
  x(seconds: number): number;
  seconds(x: number): number;
}

export function scaleOf(width: number, duration: number): Scale {
  const span = Math.max(width - GUTTER - RIGHT, 1);
  return {
    width,
    duration,
    x: (seconds) => GUTTER + (seconds / Math.max(duration, 1e-6)) * span,
    seconds: (x) => Math.min(Math.max(((x - GUTTER) / span) * duration, 0), duration),
  };
}

const STEPS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

// Times of the ruler's marks: as many as can be read.
export function ticksOf(scale: Scale): number[] {
  const pixels = scale.x(1) - scale.x(0);
  const step = STEPS.find((each) => each * pixels > 46) ?? 600;
  return Array.from({ length: Math.floor(scale.duration / step + 1e-9) + 1 }, (_, n) => n * step);
}
