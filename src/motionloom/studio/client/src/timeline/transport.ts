// Play, step, loop and speed: the buttons over the timeline.

import { button, make } from "../dom";
import type { Tools } from "../panel";
import { madeNow } from "../store";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2];

export function mountTransport(within: HTMLElement, { store, clock }: Tools): void {
  const play = button("▶", "play or pause (space)", () => clock.toggle(), "play");
  const back = button("◀|", "one frame back (left)", () => step(-1));
  const on = button("|▶", "one frame on (right)", () => step(1));
  const time = make("output", { class: "time" });
  const speed = make("select", {
    title: "speed",
    on: { change: () => { clock.speed = Number(speed.value); } },
  }, ...SPEEDS.map((value) => make("option", { attrs: { value: String(value) } }, `${value}×`)));
  speed.value = "1";
  const loop = button("loop all", "forget the loop range (drag on the ruler makes one)", () => { clock.range = null; });
  within.append(play, back, on, time, speed, loop);

  function step(frames: number): void {
    const made = madeNow(store);
    clock.playing = false;
    clock.seek(clock.time + frames / (made?.motion.fps ?? 60));
  }

  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (on.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const keys: Record<string, () => void> = {
      " ": () => clock.toggle(), ArrowLeft: () => step(-1), ArrowRight: () => step(1),
      Home: () => clock.seek(0), End: () => clock.seek(clock.duration),
      k: () => { clock.playing = false; },
      l: () => { clock.speed = clock.playing && clock.speed > 0 ? Math.min(4, clock.speed * 2) : 1; clock.playing = true; },
      j: () => { clock.playing = false; clock.seek(clock.time - 0.5); },
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  clock.onTick((now) => {
    const fps = madeNow(store)?.motion.fps ?? 60;
    const text = `${now.toFixed(2)} s   frame ${Math.round(now * fps)}`;
    if (time.textContent !== text) time.textContent = text;
    const sign = clock.playing ? "❚❚" : "▶";
    if (play.textContent !== sign) play.textContent = sign;
    loop.disabled = clock.range === null;
  });
}
