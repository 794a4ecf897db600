// A page with a live character of a table to steer: the studio's stage, the core as
// WebAssembly, and the table's file, all in the page. No network, no server.

import "../colours.css";
import "./play_page.css";
import { stillWanted } from "../clock";
import { button, make, replace } from "../dom";
import { type Goal, open, type Table } from "../runtime";
import type { ViewName } from "../stage/camera";
import { ALL_ON } from "../stage/layer";
import { Stage } from "../stage/stage";
import { VIEWS } from "../stage/words";
import { paletteOf, setTheme } from "../theme";
import { Character } from "./character";
import { type PlayData, readData } from "./play_data";
import { createStatus } from "./status";

const ORBIT = 28; // pixels of a drag that an arrow key stands for
const RATE_MS = 1000; // over which steps are counted
const KEYS: [string, string][] = [
  ["1 … 9", "go"],
  ["space", "pause"],
  ["← →", "turn"],
  ["+ -", "zoom"],
];

interface Way {
  name: string;
  goal: Goal;
  short: boolean;
  button: HTMLButtonElement;
}

function createPage(host: HTMLElement, data: PlayData, table: Table): void {
  const character = new Character(table, data);
  let playing = !stillWanted();
  let follow = true;
  let view: ViewName | "" = "three-quarter";
  let going: Way | null = null;
  let fault = "";

  const canvas = make("canvas", {
    class: "stage-canvas",
    attrs: { tabindex: "0", role: "img", "aria-label": "the live character; drag to orbit" },
  });
  const status = createStatus(character, table.clips, table.fps, table.length);
  const problem = make("p", { class: "ml-fault", attrs: { role: "alert" } });
  const rate = make("output", { class: "rate" });
  const pause = button(
    "",
    "pause or go on (space)",
    () => {
      playing = !playing;
      update();
    },
    "pause",
  );
  const views = VIEWS.map(([name, text]) => button(text, `look from: ${name}`, () => look(name)));
  const tracks = button("follow", "keep the body in the middle (F)", () => {
    follow = !follow;
    update();
  });
  const theme = button(
    "◐",
    "light or dark",
    () => {
      setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
      stage.paint(paletteOf());
    },
    "icon",
  );

  // Labels first: digits are for them, and for clips where nothing is labelled.
  const labels = table.labels.map((name, k) => wayTo(name, { label: name }, digitOf(k), false, "goal"));
  const clips = table.clips.map(({ name, frames }, k) =>
    wayTo(
      name,
      { clip: name, frame: 0 },
      labels.length ? "" : digitOf(k),
      frames < table.length,
      "clip",
      `${(frames / table.fps).toFixed(1)} s`,
    ),
  );
  const ways = labels.length ? labels : clips;
  const filter = make("input", {
    class: "search",
    attrs: { type: "search", placeholder: "find a clip", "aria-label": "find a clip" },
    on: { input: () => sift() },
  });
  const list = make("div", { class: "clips" }, ...clips.map(({ button: each }) => each));

  function wayTo(name: string, goal: Goal, digit: string, short: boolean, kind: string, more = ""): Way {
    const control = button("", short ? `${name} is shorter than a transition` : `go to ${name}`, () => go(way), kind);
    replace(
      control,
      digit ? make("kbd", {}, digit) : null,
      make("span", { class: "name" }, name),
      more ? make("span", { class: "more" }, more) : null,
    );
    control.disabled = short;
    control.setAttribute("aria-pressed", "false");
    const way: Way = { name, goal, short, button: control };
    return way;
  }

  host.replaceChildren(
    make(
      "div",
      { class: "play" },
      make(
        "header",
        { class: "head" },
        make("h1", {}, "motionloom"),
        make("span", { class: "title" }, data.title),
        make("span", { class: "gap" }),
        rate,
        theme,
      ),
      make(
        "main",
        { class: "stage" },
        canvas,
        status.element,
        problem,
        make("div", { class: "stage-bar left" }, pause),
        make("div", { class: "stage-bar views", attrs: { role: "group", "aria-label": "view" } }, ...views, tracks),
      ),
      make(
        "aside",
        { class: "side" },
        ...(labels.length
          ? [make("h2", {}, "Go to"), make("div", { class: "goals" }, ...labels.map(({ button: each }) => each))]
          : []),
        make("h2", {}, "Clips"),
        ...(clips.length > 8 ? [filter] : []),
        list,
        make("p", { class: "keys" }, ...KEYS.map(([key, does]) => make("span", {}, make("kbd", {}, key), does))),
      ),
    ),
  );

  const stage = new Stage(canvas);
  stage.turn({ ...ALL_ON, path: false, prints: false });
  stage.show([{ motion: character.motion, colour: "ink", ghost: false, placement: [0, 0, 0] }]);
  stage.paint(paletteOf());
  stage.look("three-quarter");

  function go(way: Way): void {
    try {
      character.go(way.goal);
      [going, playing, fault] = [way, true, ""];
    } catch (error) {
      fault = String(error instanceof Error ? error.message : error);
    }
    update();
  }

  function look(name: ViewName): void {
    view = name;
    stage.look(name);
    update();
  }

  function sift(): void {
    const wanted = filter.value.trim().toLowerCase();
    for (const { name, button: each } of clips) each.hidden = !name.toLowerCase().includes(wanted);
  }

  function update(): void {
    stage.follow = follow;
    pause.textContent = playing ? "❚❚" : "▶";
    pause.setAttribute("aria-label", playing ? "pause" : "go on");
    problem.textContent = fault;
    views.forEach((each, k) => each.setAttribute("aria-pressed", String(VIEWS[k][0] === view)));
    tracks.setAttribute("aria-pressed", String(follow));
    mark();
  }

  // Marks the goal that it goes to, and those that it is in.
  function mark(): void {
    const { now } = character;
    const here = now ? character.labelsAt(now) : [];
    for (const way of [...labels, ...clips]) {
      const pressed = String(way === going);
      if (way.button.getAttribute("aria-pressed") !== pressed) way.button.setAttribute("aria-pressed", pressed);
      const is = "label" in way.goal ? here.includes(way.name) : now?.clip === way.name;
      way.button.classList.toggle("here", is);
    }
  }

  const keys: Record<string, () => void> = {
    " ": () => pause.click(),
    f: () => tracks.click(),
    ArrowLeft: () => stage.eye.orbit(ORBIT, 0),
    ArrowRight: () => stage.eye.orbit(-ORBIT, 0),
    ArrowUp: () => stage.eye.orbit(0, ORBIT / 2),
    ArrowDown: () => stage.eye.orbit(0, -ORBIT / 2),
    "+": () => stage.eye.zoomBy(1.15),
    "-": () => stage.eye.zoomBy(1 / 1.15),
  };
  ways.slice(0, 10).forEach((way, k) => (keys[digitOf(k)] = () => way.button.click()));
  window.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || on.closest?.("input")) return;
    if (event.key === " " && on.matches?.("button:focus-visible")) return;
    const act = keys[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  });
  // A clicked button loses the focus, so that space pauses and does not press it again.
  host.addEventListener("click", (event) => {
    const on = (event.target as HTMLElement).closest("button");
    if (event.detail > 0) on?.blur();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    setTheme("auto");
    stage.paint(paletteOf());
  });

  let [last, counted, since] = [performance.now(), character.steps, performance.now()];
  function frame(now: number): void {
    const passed = Math.max(0, now - last) / 1000;
    last = now;
    if (playing) {
      try {
        if (character.advance(passed)) {
          if (!character.ordered) going = null;
          mark();
        }
      } catch (error) {
        // The goal cannot be reached; the core has dropped it and continues to play.
        [going, fault] = [null, String(error instanceof Error ? error.message : error)];
        update();
      }
      stage.redraw(); // its points are overwritten
    }
    status.draw(going?.name ?? "");
    stage.draw([character.part]);
    if (now - since >= RATE_MS) {
      const a = Math.round((1000 * (character.steps - counted)) / (now - since));
      rate.textContent = playing ? `${a} frames/s` : "paused";
      [counted, since] = [character.steps, now];
    }
    requestAnimationFrame(frame);
  }
  update();
  status.draw("");
  stage.draw([1]);
  requestAnimationFrame((now) => {
    last = since = now;
    frame(now);
  });
  // For tests and for the browser's console.
  Object.assign(window, { play: { table, character, stage } });
}

// The key of the k-th goal: 1 to 9, then 0.
function digitOf(k: number): string {
  return k < 10 ? String((k + 1) % 10) : "";
}

async function begin(host: HTMLElement): Promise<void> {
  setTheme("auto");
  try {
    const { data, wasm, file } = await readData();
    createPage(host, data, await open(wasm, file));
    document.documentElement.dataset.player = "ready";
  } catch (error) {
    document.documentElement.dataset.player = "error";
    const text = error instanceof Error ? error.message : String(error);
    const words = text.includes("WebGL") ? "this browser has no WebGL, which it draws with." : text;
    host.replaceChildren(make("p", { class: "ml-fault" }, `The character could not start: ${words}`));
    throw error;
  }
}
void begin(document.getElementById("play")!);
