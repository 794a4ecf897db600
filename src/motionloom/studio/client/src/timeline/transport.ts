// Play, step, loop and speed: the buttons over the timeline, and their keys. Needs only the clock.

import type { Clock } from "../clock";
import { button, make } from "../dom";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2];
const FASTEST = 4;

export interface Transport {
  element: HTMLElement;
  // Whether it uses the key.
  press(key: string): boolean;
}

export function createTransport(clock: Clock, motion: () => { fps: number; frames: number } | null): Transport {
  const play = button("▶", "play or pause (space)", () => clock.toggle(), "play");
  const time = make("output", { class: "time ml-clock" });
  const speed = make(
    "select",
    {
      title: "speed",
      attrs: { "aria-label": "speed" },
      on: {
        change: () => {
          clock.speed = Number(speed.value);
        },
      },
    },
    ...SPEEDS.map((value) => make("option", { attrs: { value: String(value) } }, `${value}×`)),
  );
  speed.value = "1";
  const loop = button("loop all", "remove the loop range (drag on the ruler to set one)", () => {
    clock.range = null;
  });
  const element = make(
    "div",
    { class: "transport" },
    button("|◂", "first frame (home)", () => toEnd(0)),
    button("◂", "one frame back (left)", () => step(-1)),
    play,
    button("▸", "one frame forward (right)", () => step(1)),
    button("▸|", "last frame (end)", () => toEnd(1)),
    time,
    speed,
    loop,
  );

  function step(frames: number): void {
    const fps = motion()?.fps ?? 60;
    clock.playing = false;
    clock.seek((Math.round(clock.time * fps) + frames) / fps);
  }

  function toEnd(end: 0 | 1): void {
    clock.playing = false;
    clock.seek((clock.range ?? [0, clock.duration])[end]);
  }

  // As in video editors: J and L play backward and forward, faster with every press; K stops.
  function run(way: 1 | -1): void {
    clock.speed =
      clock.playing && Math.sign(clock.speed) === way ? way * Math.min(FASTEST, Math.abs(clock.speed) * 2) : way;
    clock.playing = true;
  }

  const keys: Record<string, () => void> = {
    " ": () => {
      if (!clock.playing && clock.speed < 0) clock.speed = 1;
      clock.toggle();
    },
    ArrowLeft: () => step(-1),
    ArrowRight: () => step(1),
    ArrowUp: () => step(-10),
    ArrowDown: () => step(10),
    Home: () => toEnd(0),
    End: () => toEnd(1),
    j: () => run(-1),
    k: () => {
      clock.playing = false;
    },
    l: () => run(1),
  };

  clock.onTick((now) => {
    const shown = motion();
    const frames = shown?.frames ?? 0;
    const text = shown
      ? `${now.toFixed(2)} s · frame ${Math.min(Math.round(now * shown.fps), frames - 1)} of ${frames}`
      : "";
    if (time.textContent !== text) time.textContent = text;
    const sign = clock.playing ? "❚❚" : "▶";
    if (play.textContent !== sign) play.textContent = sign;
    if (speed.value !== String(clock.speed)) speed.value = SPEEDS.includes(clock.speed) ? String(clock.speed) : "";
    loop.disabled = clock.range === null;
  });
  return {
    element,
    press(key) {
      keys[key]?.();
      return key in keys;
    },
  };
}
