// The one clock: seconds into the result; everything that moves reads it.

export interface Clock {
  time: number;
  playing: boolean;
  speed: number;
  // Part of the result that is looped, seconds; all of it where null.
  range: [number, number] | null;
  duration: number;
  seek(time: number): void;
  toggle(): void;
  setDuration(seconds: number): void;
  onTick(tick: (time: number) => void): void;
}

// Whether the visitor's system asks for stillness: nothing moves then before the user starts it.
export function stillWanted(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export function createClock(): Clock {
  const ticks: ((time: number) => void)[] = [];
  let last = performance.now();
  const clock: Clock = {
    time: 0,
    playing: !stillWanted(),
    speed: 1,
    range: null,
    duration: 0,
    seek(time) {
      this.time = Math.min(Math.max(time, 0), this.duration);
    },
    toggle() {
      this.playing = !this.playing;
    },
    setDuration(seconds) {
      this.duration = seconds;
      // A range that is still inside stays: the result can change while it loops.
      if (this.range && this.range[1] > seconds) this.range = null;
      this.time = Math.min(this.time, seconds);
    },
    onTick(tick) {
      ticks.push(tick);
    },
  };
  function frame(now: number): void {
    const passed = Math.min(0.1, (now - last) / 1000); // a hidden page comes back where it was
    last = now;
    if (clock.playing && clock.duration > 0) {
      const [first, end] = clock.range ?? [0, clock.duration];
      clock.time += passed * clock.speed;
      if (clock.time > end) clock.time = first + ((clock.time - first) % Math.max(end - first, 1e-3));
      if (clock.time < first) clock.time = clock.speed < 0 ? end : first;
    }
    for (const tick of ticks) tick(clock.time);
    requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);
  return clock;
}
