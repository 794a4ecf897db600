// Player: createPlayer(element, clips, options) shows clips with one clock. Plain canvas, offline.
//
// A clip is what unpackClip returns. Options: {view, autoplay, together}. The result has
// play(), pause(), seek(seconds), select(index), look(view), together(flag) and destroy().

import { createCamera, lensOf, lookFrom, orbit, panBy, zoomBy } from "./camera.js";
import { drawFigure, drawGround, drawPrints, drawRibbon } from "./figure.js";
import { TIMELINE_HEIGHT, drawTimeline, handleTimeline } from "./timeline.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2];

function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;
}

// A clip with typed arrays from one packed as JSON and base64.
export function unpackClip(packed) {
  return {
    ...packed,
    positions: new Float32Array(bytesOf(packed.positions)),
    speeds: packed.speeds ? new Float32Array(bytesOf(packed.speeds)) : null,
  };
}

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children); // strings become text nodes: names from files are never markup
  return made;
}

export function createPlayer(host, clips, options = {}) {
  const state = {
    clip: 0, time: 0, duration: 1, range: null, playing: false, rate: 1,
    loop: true, follow: true, together: Boolean(options.together) && clips.length > 1, view: options.view ?? "three-quarter",
  };
  const camera = createCamera();
  const stage = element("canvas", { class: "ml-stage", tabindex: "0", "aria-label": "Figure; drag to orbit" });
  const lanes = element("canvas", { class: "ml-lanes", tabindex: "0", role: "slider", "aria-label": "Timeline" });
  lanes.style.height = `${TIMELINE_HEIGHT}px`;
  const clock = element("output", { class: "ml-clock" });
  const button = (label, text, act) => element("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const play = button("Play or pause (space)", "▶", () => toggle());
  const views = ["side", "front", "top", "three-quarter"].map((name) =>
    button(`Look from the ${name}`, name === "three-quarter" ? "3/4" : name, () => player.look(name)));
  const follow = button("Follow the figure (F)", "follow", () => set({ follow: !state.follow }));
  const loop = button("Loop", "loop", () => set({ loop: !state.loop }));
  const both = button("All clips side by side", "all", () => player.together(!state.together));
  const theme = button("Light or dark", "◐", () => switchTheme());
  const speed = element("select", { "aria-label": "Speed", onchange: () => set({ rate: Number(speed.value) }) },
    ...SPEEDS.map((rate) => element("option", { value: rate }, `${rate}×`)));
  speed.value = "1";
  const chooser = element("select", { "aria-label": "Clip", class: "ml-clips", onchange: () => player.select(Number(chooser.value)) },
    ...clips.map((clip, i) => element("option", { value: i }, clip.name)));
  const root = element("div", { class: "ml-player" },
    element("div", { class: "ml-bar" }, ...(clips.length > 1 ? [chooser, both] : []),
      element("span", { class: "ml-gap" }), ...views, follow, theme),
    stage,
    element("div", { class: "ml-bar" },
      button("First frame (home)", "|◂", () => player.seek(first())), button("Back one frame (left)", "◂", () => step(-1)), play,
      button("On one frame (right)", "▸", () => step(1)), button("Last frame (end)", "▸|", () => player.seek(last())),
      clock, element("span", { class: "ml-gap" }), loop, speed),
    lanes);
  host.append(root);

  const clip = () => clips[state.clip];
  const first = () => state.range?.[0] ?? 0;
  const last = () => state.range?.[1] ?? state.duration;
  let palette = null;
  let request = 0;
  let before = null;
  let alive = true;

  function readPalette() {
    const style = getComputedStyle(root);
    const names = ["paper", "ink", "amber", "blue", "planted", "sliding", "grid", "label", "lane", "range", "shadow", "haze", "text"];
    palette = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--ml-${name}`).trim()]));
    palette.shine = Number(style.getPropertyValue("--ml-shine"));
  }
  function switchTheme() {
    const page = document.documentElement;
    const dark = page.dataset.theme ? page.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    page.dataset.theme = dark ? "light" : "dark";
    window.dispatchEvent(new Event("ml-theme"));
  }
  function set(changes) {
    if (changes.scrub) state.playing = false;
    Object.assign(state, changes);
    state.time = Math.min(Math.max(state.time, 0), state.duration);
    redraw();
  }
  function toggle() {
    if (!state.playing && state.time >= last() - 1e-6) state.time = first();
    set({ playing: !state.playing });
  }
  function step(frames) {
    const frame = Math.round(state.time * clip().fps) + frames;
    set({ time: frame / clip().fps, playing: false });
  }
  function redraw() {
    if (!request && alive) request = requestAnimationFrame(draw);
  }

  function draw(now) {
    request = 0;
    if (state.playing && before !== null) {
      state.time += (Math.min(now - before, 100) / 1000) * state.rate;
      if (state.time > last() && state.loop) state.time = first();
      else if (state.time > last()) Object.assign(state, { time: last(), playing: false });
    }
    before = now;
    drawStage();
    drawTimeline(lanes, clip(), state, palette);
    const frame = Math.min(Math.round(state.time * clip().fps), clip().frames - 1);
    clock.textContent = `${state.time.toFixed(2)} s · frame ${frame} of ${clip().frames}`;
    lanes.setAttribute("aria-valuenow", frame);
    lanes.setAttribute("aria-valuemax", clip().frames - 1);
    play.textContent = state.playing ? "❚❚" : "▶";
    for (const [toggled, on] of [[follow, state.follow], [loop, state.loop], [both, state.together]]) toggled.setAttribute("aria-pressed", on);
    views.forEach((each, i) => each.setAttribute("aria-pressed", ["side", "front", "top", "three-quarter"][i] === state.view));
    document.documentElement.dataset.player ??= "ready";
    if (state.playing) redraw();
  }

  // One viewport per shown clip; all share the camera's angles and the clock.
  function drawStage() {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [stage.clientWidth, stage.clientHeight];
    stage.width = Math.round(width * ratio);
    stage.height = Math.round(height * ratio);
    const context = stage.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const shown = state.together ? clips.map((_, i) => i) : [state.clip];
    const columns = Math.min(shown.length, Math.max(1, Math.round(Math.sqrt((shown.length * width * 1.5) / height))));
    const rows = Math.ceil(shown.length / columns);
    shown.forEach((index, n) => {
      const box = { x: (n % columns) * (width / columns), y: Math.floor(n / columns) * (height / rows), width: width / columns, height: height / rows };
      context.save();
      context.beginPath();
      context.rect(box.x, box.y, box.width, box.height);
      context.clip();
      drawClip(context, clips[index], box, shown.length > 1);
      context.restore();
    });
  }
  function drawClip(context, shown, box, named) {
    const frame = Math.min(state.time * shown.fps, shown.frames - 1);
    const at = state.follow ? smoothRoot(shown, frame) : shown.middle;
    camera.target = [at[0], shown.floor + 0.5 * shown.height, at[2]];
    camera.height = shown.height * (state.follow ? 1 : Math.max(1, 0.55 * shown.extent / shown.height));
    // Side by side, every clip is seen from the same side of its own way.
    const turned = { ...camera, yaw: camera.yaw + (state.together ? shown.heading - clip().heading : 0) };
    const lens = lensOf(turned, box);
    drawGround(context, lens, shown, palette, camera.target);
    drawRibbon(context, lens, shown, palette, frame);
    drawPrints(context, lens, shown, palette, frame);
    drawFigure(context, lens, shown, palette, frame);
    if (named) {
      context.fillStyle = palette.label;
      context.font = "12px system-ui, sans-serif";
      context.fillText(shown.name, box.x + 12, box.y + 20, box.width - 24);
    }
  }
  // The root averaged over a third of a second, so that a followed walk does not shake the view.
  function smoothRoot(shown, frame) {
    const half = Math.max(1, Math.round(shown.fps / 6));
    const sum = [0, 0, 0];
    for (let f = -half; f <= half; f++) {
      const at = Math.min(Math.max(frame + f, 0), shown.frames - 1);
      const low = Math.floor(at);
      for (let i = 0; i < 3; i++) {
        const here = shown.positions[(low * shown.points + shown.root) * 3 + i];
        const next = shown.positions[(Math.min(low + 1, shown.frames - 1) * shown.points + shown.root) * 3 + i];
        sum[i] += (here + (at - low) * (next - here)) / (2 * half + 1);
      }
    }
    return sum;
  }

  const held = new Map();
  stage.addEventListener("pointerdown", (event) => {
    stage.setPointerCapture(event.pointerId);
    held.set(event.pointerId, [event.clientX, event.clientY]);
  });
  stage.addEventListener("pointermove", (event) => {
    const was = held.get(event.pointerId);
    if (!was) return;
    const [dx, dy] = [event.clientX - was[0], event.clientY - was[1]];
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const reach = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      zoomBy(camera, reach([event.clientX, event.clientY]) / Math.max(reach(was), 1));
    } else if (event.shiftKey || event.buttons & 6) {
      panBy(camera, lensOf(camera, { x: 0, y: 0, width: stage.clientWidth, height: stage.clientHeight }), dx, dy);
    } else {
      orbit(camera, dx, dy);
      state.view = "";
    }
    held.set(event.pointerId, [event.clientX, event.clientY]);
    redraw();
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => held.delete(event.pointerId));
  stage.addEventListener("contextmenu", (event) => event.preventDefault());
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomBy(camera, Math.exp(-event.deltaY * 0.0015));
    redraw();
  }, { passive: false });
  handleTimeline(lanes, state, set);

  const keys = {
    " ": toggle, k: toggle, j: () => set({ rate: Math.max(0.1, state.rate / 2) }), l: () => set({ rate: Math.min(4, state.rate * 2), playing: true }),
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => step(-10), ArrowDown: () => step(10),
    Home: () => player.seek(first()), End: () => player.seek(last()), f: () => set({ follow: !state.follow }),
    1: () => player.look("side"), 2: () => player.look("front"), 3: () => player.look("top"), 4: () => player.look("three-quarter"),
  };
  root.addEventListener("keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT" ? null : keys[event.key];
    if (!act || (event.key === " " && event.target.tagName === "BUTTON")) return;
    event.preventDefault();
    act();
  });
  // Drawn at once: a canvas that waits a frame for its new size is seen stretched.
  const watcher = new ResizeObserver(() => draw(performance.now()));
  watcher.observe(stage);
  watcher.observe(lanes);
  const retheme = () => (readPalette(), redraw());
  window.addEventListener("ml-theme", retheme);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", retheme);

  const player = {
    play: () => state.playing || toggle(),
    pause: () => set({ playing: false }),
    seek: (seconds) => set({ time: seconds, playing: false }),
    select(index) {
      chooser.value = index;
      const longest = Math.max(...clips.map((each) => (each.frames - 1) / each.fps));
      set({ clip: index, range: null, duration: (state.together ? longest : (clips[index].frames - 1) / clips[index].fps) || 1 / clips[index].fps });
      if (state.view) lookFrom(camera, state.view, clips[index].heading);
    },
    look(view) {
      state.view = view;
      lookFrom(camera, view, clip().heading);
      redraw();
    },
    together(flag) {
      state.together = flag;
      player.select(state.clip);
    },
    destroy() {
      alive = false;
      watcher.disconnect();
      window.removeEventListener("ml-theme", retheme);
      root.remove();
    },
  };
  readPalette();
  player.select(0);
  if (options.autoplay && !matchMedia("(prefers-reduced-motion: reduce)").matches) player.play();
  return player;
}
