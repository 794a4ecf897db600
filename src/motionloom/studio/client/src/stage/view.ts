// The stage as a panel: follows the store, names the panes, has the buttons for view and layers.

import { button, make, replace } from "../dom";
import { currentResult, nameOf, type Project, type TabResult } from "../store";
import { clipsOf } from "../tabs/blend";
import { paletteOf } from "../theme";
import type { Tools } from "../tools";
import type { Role } from "./actor";
import { SWITCHES, type Switch } from "./layer";
import { Stage } from "./stage";
import { LAYER_WORDS, VIEWS } from "./words";

type Named = Role & { text: string };

export function mountStage(within: HTMLElement, { store, clock }: Tools): Stage {
  const canvas = make("canvas", {
    class: "stage-canvas",
    attrs: { tabindex: "0", role: "img", "aria-label": "stage: the bodies at the time of the playhead" },
  });
  const names = make("div", { class: "pane-names" });
  const empty = make("p", { class: "invitation" });
  const see = (part: Partial<Project["view"]>, key = ""): void =>
    store.commit(key, { view: { ...store.project.view, ...part } });
  const views = VIEWS.map(([name, text]) =>
    button(text, `look from: ${name}`, () => {
      stage.look(name);
      see({ camera: name }, "camera");
    }),
  );
  const overlay = button("overlay", "all bodies in one view, or side by side", () =>
    see({ overlaid: !store.project.view.overlaid }),
  );
  const follow = button("follow", "keep the body in the middle", () => see({ follow: !store.project.view.follow }));
  const shown = new Map<Switch, HTMLButtonElement>(
    SWITCHES.map((name) => [
      name,
      button(name, LAYER_WORDS[name], () => {
        const { layers } = store.project.view;
        see({ layers: { ...layers, [name]: !layers[name] } });
      }),
    ]),
  );
  within.append(
    canvas,
    names,
    empty,
    make("div", { class: "stage-bar layers", attrs: { role: "group", "aria-label": "layers" } }, ...shown.values()),
    make(
      "div",
      { class: "stage-bar views", attrs: { role: "group", "aria-label": "view" } },
      ...views,
      overlay,
      follow,
    ),
  );

  const stage = new Stage(canvas);
  let now: { key: unknown; cast: string } = { key: null, cast: "" };
  let roles: Named[] = [];
  let frames: (time: number) => number[] = () => [];

  function refresh(): void {
    const { project, scene } = store;
    const { view } = project;
    const { live } = scene;
    const result = live ? null : currentResult(store);
    const picked = project.tab === "blend" ? clipsOf(project) : [project.a, project.b];
    const alone = live ? [live] : picked.map((id) => (id ? scene.clips[id] : undefined));
    stage.overlaid = view.overlaid;
    stage.follow = view.follow;
    stage.turn(view.layers);
    const key = live ?? result ?? alone.find(Boolean);
    const cast = [
      view.overlaid,
      project.tab,
      ...(result ? result.answer.sources.map(({ clip }) => clip) : alone.map((clip) => clip?.name)),
    ].join();
    if (
      key !== now.key ||
      cast !== now.cast ||
      (!result && alone.some((clip) => clip && !roles.some(({ motion }) => motion === clip)))
    ) {
      if (result) [roles, frames] = rolesOf(result, view.overlaid, (id) => nameOf(store, id));
      else {
        roles = alone.flatMap((motion, k): Named[] =>
          motion
            ? [
                {
                  motion,
                  colour: live ? "ink" : k === 0 ? "amber" : "blue",
                  ghost: false,
                  placement: [0, 0, 0],
                  text: live ? "live" : `${"ABCDEFGHIJKLMNOP"[k] ?? ""}  ${nameOf(store, picked[k] ?? motion.name)}`,
                },
              ]
            : [],
        );
        const own = roles;
        frames = (time) => own.map(({ motion }) => Math.min(time * motion.fps, motion.frames - 1));
      }
      clock.setDuration(result ? lengthOf(result.motion) : Math.max(0, ...roles.map(({ motion }) => lengthOf(motion))));
      stage.show(roles);
      // The camera stays while a weight is dragged; only another cast resets it.
      if (cast !== now.cast) stage.look(view.camera);
      now = { key, cast };
      stage.paint(paletteOf());
      const panes = stage.panes();
      replace(
        names,
        ...roles.map(({ text, colour }, k) => {
          const name = make("span", { class: `pane-name ${colour}` }, text);
          const pane = panes[view.overlaid ? 0 : k];
          if (!view.overlaid)
            Object.assign(name.style, {
              left: `${100 * pane.left}%`,
              top: `${100 * pane.top}%`,
              width: `${100 * pane.width}%`,
            });
          return name;
        }),
      );
      canvas.dataset.actors = String(roles.length);
    }
    names.classList.toggle("together", view.overlaid);
    for (const [name, each] of shown) each.setAttribute("aria-pressed", String(view.layers[name]));
    shown.get("skin")!.hidden = !roles.some(({ motion }) => motion.skin);
    overlay.setAttribute("aria-pressed", String(view.overlaid));
    follow.setAttribute("aria-pressed", String(view.follow));
    views.forEach((each, k) => each.setAttribute("aria-pressed", String(VIEWS[k][0] === view.camera)));
    empty.hidden = roles.length > 0;
    empty.textContent = project.a
      ? "Pick a second clip in the library: it becomes B."
      : "Pick a clip in the library: it becomes A.";
  }

  store.listen((project, scene, before) => {
    if (project.view.theme !== before.project.view.theme) stage.paint(paletteOf());
    if (
      project !== before.project ||
      scene.results !== before.scene.results ||
      scene.clips !== before.scene.clips ||
      scene.live !== before.scene.live
    )
      refresh();
  });
  refresh();
  clock.onTick((time) => {
    if (store.scene.live) stage.redraw(); // its one frame is overwritten
    stage.draw(frames(time));
  });
  if (new URLSearchParams(location.search).has("debug")) showFigures(within, stage, (tick) => clock.onTick(tick));
  return stage;
}

function lengthOf({ frames, fps }: { frames: number; fps: number }): number {
  return (frames - 1) / fps;
}

// A, the result, then the other sources; each with the frame that it has on the result's clock.
function rolesOf(
  { motion, sources, sourceFrames, answer }: TabResult,
  ghosts: boolean,
  name: (id: string) => string,
): [Named[], (time: number) => number[]] {
  const n = sources.length;
  // Results of other methods are no clips: no letter, no colour of A or B, in the order of the methods.
  const { detail } = answer;
  const ways = detail.tab === "splice" && detail.methods.length ? detail.methods.map(({ method }) => method) : null;
  const at = ways && detail.tab === "splice" ? ways.indexOf(detail.method) : 1;
  const all = sources.map(
    (source, k): Named => ({
      motion: source,
      colour: ways ? "ink" : k === 0 ? "amber" : "blue",
      ghost: ghosts,
      placement: answer.sources[k].placement,
      text: ways ? answer.sources[k].clip : `${"ABCDEFGHIJKLMNOP"[k] ?? ""}  ${name(answer.sources[k].clip)}`,
    }),
  );
  const text = ways && detail.tab === "splice" ? `${detail.method}: the result` : "result";
  const result: Named = { motion, colour: "ink", ghost: false, placement: [0, 0, 0], text };
  // A transition to rate is shown alone: its clips would bias the rater.
  const unrated = detail.tab === "table" && detail.rating !== null;
  const frames = (time: number): number[] => {
    const f = Math.min(time * motion.fps, motion.frames - 1);
    const low = Math.floor(f),
      high = Math.min(low + 1, motion.frames - 1);
    const own = sources.map((_, k) => {
      const [a, b] = [sourceFrames[low * n + k], sourceFrames[high * n + k]];
      return Number.isFinite(b) ? a + (f - low) * (b - a) : a;
    });
    return [...own.slice(0, at), f, ...own.slice(at)];
  };
  if (unrated) return [[{ ...result, text: "natural, or not?" }], (time) => [frames(time)[at]]];
  return [[...all.slice(0, at), result, ...all.slice(at)], frames];
}

// Figures in a corner, shown when the page is opened with ?debug: the middle one of the last second.
function showFigures(within: HTMLElement, stage: Stage, onTick: (tick: () => void) => void): void {
  const line = make("output", { class: "figures-line" });
  within.append(line);
  const last: number[] = [];
  onTick(() => {
    last.push(stage.figures.script);
    if (last.length < 60) return;
    const middle = last.sort((a, b) => a - b)[30];
    line.textContent = `${stage.figures.calls} draw calls · ${middle.toFixed(2)} ms of script a frame`;
    last.length = 0;
  });
}
