// The player of single pages: the studio's stage and timeline around clips that lie in the page. No
// network, no outside file.

import "../colours.css";
import "./player_page.css";
import { createClock } from "../clock";
import { button, make, replace } from "../dom";
import type { Role } from "../stage/actor";
import type { ViewName } from "../stage/camera";
import { ALL_ON, SWITCHES, type Switches } from "../stage/layer";
import { Stage } from "../stage/stage";
import { LAYER_WORDS, VIEWS } from "../stage/words";
import { paletteOf, setTheme } from "../theme";
import type { Bracket, Strip } from "../timeline/rows";
import { Sheet } from "../timeline/sheet";
import { createTransport } from "../timeline/transport";
import { type PlayedClip, unpackClip } from "./unpack";

interface Options {
  together: boolean;
  overlaid?: boolean;
  autoplay: boolean;
  view: ViewName;
  // The clip on whose clock the others run, with the blend on it.
  lead?: number;
  bracket?: Bracket;
  strips?: [Strip, Strip];
}

const players: { retheme(): void }[] = [];

function createPlayer(host: HTMLElement, clips: PlayedClip[], options: Options): void {
  const clock = createClock();
  clock.playing &&= options.autoplay;
  let chosen = options.lead ?? 0;
  let together = options.together && clips.length > 1;
  let overlaid = together && Boolean(options.overlaid);
  let follow = true;
  let view: ViewName | "" = options.view;
  let layers: Switches = ALL_ON;
  let stage: Stage | null = null;
  let canvas = make("canvas", { class: "ml-stage", attrs: { tabindex: "0", "aria-label": "Figure; drag to orbit" } });
  const names = make("div", { class: "pane-names" });
  const box = make("div", { class: "ml-box" }, canvas, names);
  const sheet = new Sheet(clock, paletteOf, "ml-lanes");
  const lead = (): PlayedClip => clips[chosen];
  const transport = createTransport(clock, () => lead().motion);

  const views = VIEWS.map(([name, text]) => button(text, `look from: ${name}`, () => look(name)));
  const tracks = button("follow", "keep the body in the middle (F)", () => {
    follow = !follow;
    update();
  });
  const all = button("all", "all clips side by side", () => {
    together = !together;
    cast();
  });
  const over = button("overlay", "all clips in one", () => {
    overlaid = !overlaid;
    together ||= overlaid;
    cast();
  });
  const switches = SWITCHES.filter((name) => name !== "skin").map((name) => {
    const each = button(name, LAYER_WORDS[name], () => {
      layers = { ...layers, [name]: !layers[name] };
      update();
    });
    each.dataset.layer = name;
    return each;
  });
  const theme = button("◐", "light or dark", () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    for (const player of players) player.retheme();
  });
  const chooser = make(
    "select",
    {
      class: "ml-clips",
      attrs: { "aria-label": "clip" },
      on: {
        change: () => {
          chosen = Number(chooser.value);
          cast();
        },
      },
    },
    ...clips.map(({ motion }, k) => make("option", { attrs: { value: String(k) } }, motion.name)),
  );
  chooser.value = String(chosen);
  const root = make(
    "div",
    { class: "ml-player" },
    make(
      "div",
      { class: "ml-bar" },
      ...(clips.length > 1 ? [chooser, all, over] : []),
      ...switches,
      make("span", { class: "gap" }),
      ...views,
      tracks,
      theme,
    ),
    box,
    make("div", { class: "ml-bar" }, transport.element),
    sheet.element,
  );
  host.append(root);

  const shown = (): PlayedClip[] => (together ? clips : [lead()]);
  const rolesOf = (): Role[] =>
    shown().map(({ motion, colour, placement }) => ({
      motion,
      colour: together ? colour : "ink",
      placement,
      ghost: together && overlaid && colour !== "ink",
    }));

  // Other clips, or the same in another order: the stage and the clock are set up again.
  function cast(): void {
    const length = ({ motion }: PlayedClip): number => Math.max(1, motion.frames - 1) / motion.fps;
    const alone = !together || options.lead !== undefined;
    clock.setDuration(alone ? length(lead()) : Math.max(...clips.map(length)));
    const on = options.lead === chosen ? options : null;
    sheet.show({ motion: lead().motion, strips: on?.strips ?? null, bracket: on?.bracket ?? null, cost: null });
    stage?.show(rolesOf());
    if (view) stage?.look(view);
    update();
  }

  function update(): void {
    if (stage) [stage.overlaid, stage.follow] = [overlaid && together, follow];
    stage?.turn(layers);
    const panes = stage?.panes() ?? [];
    names.classList.toggle("together", overlaid && together);
    replace(
      names,
      ...(together ? clips : []).map(({ motion, colour }, k) => {
        const label = make("span", { class: `pane-name ${colour}` }, motion.name);
        const pane = panes[k];
        if (pane && !overlaid)
          Object.assign(label.style, {
            left: `${100 * pane.left}%`,
            top: `${100 * pane.top}%`,
            width: `${100 * pane.width}%`,
          });
        return label;
      }),
    );
    const pressed = (each: HTMLElement, on: boolean): void => each.setAttribute("aria-pressed", String(on));
    views.forEach((each, k) => pressed(each, VIEWS[k][0] === view));
    for (const each of switches) pressed(each, layers[each.dataset.layer as keyof Switches]);
    pressed(tracks, follow);
    pressed(all, together);
    pressed(over, together && overlaid);
  }

  function look(name: ViewName): void {
    view = name;
    stage?.look(name);
    update();
  }

  function framesAt(time: number): number[] {
    return shown().map(({ motion, follows }) => {
      if (follows && options.lead !== undefined && together) {
        const f = Math.min(time * clips[options.lead].motion.fps, follows.length - 1);
        const [a, b] = [follows[Math.floor(f)], follows[Math.ceil(f)]];
        return Number.isFinite(b) ? a + (f % 1) * (b - a) : a;
      }
      return Math.min(time * motion.fps, motion.frames - 1);
    });
  }

  // A page can have more players than a browser has graphics contexts: only visible ones have a stage.
  function raise(): void {
    stage = new Stage(canvas);
    stage.paint(paletteOf());
    cast();
    stage.draw(framesAt(clock.time));
    document.documentElement.dataset.player = "ready";
  }
  function drop(): void {
    stage?.dispose();
    stage = null;
    const fresh = canvas.cloneNode() as HTMLCanvasElement;
    canvas.replaceWith(fresh);
    canvas = fresh;
  }
  new IntersectionObserver(([entry]) => {
    if (entry.isIntersecting && !stage) guarded(host, raise);
    else if (!entry.isIntersecting && stage) drop();
  }).observe(box);
  clock.onTick((time) => stage?.draw(framesAt(time)));
  players.push({
    retheme() {
      stage?.paint(paletteOf());
      sheet.draw();
    },
  });

  const keys: Record<string, () => void> = {
    f: () => tracks.click(),
    1: () => look("side"),
    2: () => look("front"),
    3: () => look("top"),
    4: () => look("three-quarter"),
  };
  root.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      on.tagName === "SELECT" ||
      (event.key === " " && on.matches("button:focus-visible"))
    )
      return;
    keys[event.key]?.();
    if (keys[event.key] || transport.press(event.key)) event.preventDefault();
  });
  cast();
}

// Errors appear on the page: its reader has no console in view.
function guarded(host: HTMLElement, act: () => void): void {
  try {
    act();
  } catch (fault) {
    document.documentElement.dataset.player = "error";
    const words = String(fault).includes("WebGL") ? "this browser has no WebGL, which it draws with." : String(fault);
    host.append(make("p", { class: "ml-fault" }, `The player could not start: ${words}`));
    throw fault;
  }
}

setTheme("auto");
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  setTheme("auto");
  for (const player of players) player.retheme();
});
for (const slot of document.querySelectorAll<HTMLElement>("[data-clips]")) {
  guarded(slot, () => {
    const packed = JSON.parse(document.getElementById(slot.dataset.clips ?? "")!.textContent ?? "") as {
      clips: Parameters<typeof unpackClip>[0][];
      options: Options;
    };
    createPlayer(slot, packed.clips.map(unpackClip), packed.options);
  });
}
