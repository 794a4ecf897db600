// The stage as a panel: follows the store, names the panes, has the buttons for the view.

import { button, make, replace } from "../dom";
import type { Tools } from "../panel";
import { madeNow } from "../store";
import { paletteOf } from "../theme";
import type { Role } from "./actor";
import type { ViewName } from "./camera";
import { Stage } from "./stage";

const VIEWS: [ViewName, string][] = [["three-quarter", "3/4"], ["front", "front"], ["side", "side"], ["top", "top"]];

export function mountStage(within: HTMLElement, { store, clock }: Tools): Stage {
  const canvas = make("canvas", { class: "stage-canvas", attrs: { tabindex: "0", "aria-label": "stage" } });
  const names = make("div", { class: "pane-names" });
  const empty = make("p", { class: "invitation" });
  const views = VIEWS.map(([name, text]) =>
    button(text, `look from: ${name}`, () => {
      stage.look(name);
      store.decide("camera", { view: { ...store.project.view, camera: name } });
    }));
  const beside = button("overlay", "all in one, or side by side", () =>
    store.decide("", { view: { ...store.project.view, overlaid: !store.project.view.overlaid } }));
  const follow = button("follow", "keep the body in the middle", () =>
    store.decide("", { view: { ...store.project.view, follow: !store.project.view.follow } }));
  within.append(canvas, names, empty, make("div", { class: "stage-bar" }, ...views, beside, follow));

  const stage = new Stage(canvas);
  let shown: unknown = null;
  let frames: (time: number) => number[] = () => [];

  function refresh(): void {
    const { project, scene } = store;
    const made = madeNow(store);
    const single = made ? null : [project.a, project.b].map((id) => (id ? scene.clips[id] : undefined));
    const key = made ?? JSON.stringify([project.a, project.b, single?.map(Boolean)]);
    stage.overlaid = project.view.overlaid;
    stage.follow = project.view.follow;
    if (key !== shown) {
      shown = key;
      const roles: (Role & { says: string })[] = [];
      if (made) {
        const { motion, sources, sourceFrames, answer } = made;
        const n = sources.length;
        const source = (k: number): Role & { says: string } => ({
          motion: sources[k], colour: k === 0 ? "amber" : "blue", ghost: project.view.overlaid,
          placement: answer.sources[k].placement, says: `${"ABCDEFGH"[k]}  ${answer.sources[k].clip}`,
        });
        roles.push(source(0), { motion, colour: "ink", ghost: false, placement: [0, 0, 0], says: "result" });
        for (let k = 1; k < n; k++) roles.push(source(k));
        frames = (time) => {
          const f = Math.min(time * motion.fps, motion.frames - 1);
          const row = Math.round(f) * n;
          const own = Array.from({ length: n }, (_, k) => sourceFrames[row + k]);
          return [own[0], f, ...own.slice(1)];
        };
        clock.setDuration((motion.frames - 1) / motion.fps);
      } else {
        single?.forEach((motion, k) => {
          if (motion) {
            roles.push({
              motion, colour: k === 0 ? "amber" : "blue", ghost: false, placement: [0, 0, 0],
              says: `${"AB"[k]}  ${motion.name}`,
            });
          }
        });
        frames = (time) => roles.map(({ motion }) => Math.min(time * motion.fps, motion.frames - 1));
        clock.setDuration(Math.max(0, ...roles.map(({ motion }) => (motion.frames - 1) / motion.fps)));
      }
      stage.show(roles);
      stage.paint(paletteOf());
      stage.look(project.view.camera as ViewName);
      replace(names, ...roles.map(({ says, colour }) => make("span", { class: `pane-name ${colour}` }, says)));
      canvas.dataset.actors = String(roles.length);
    }
    names.classList.toggle("together", project.view.overlaid);
    beside.setAttribute("aria-pressed", String(project.view.overlaid));
    follow.setAttribute("aria-pressed", String(project.view.follow));
    views.forEach((each, k) => each.setAttribute("aria-pressed", String(VIEWS[k][0] === project.view.camera)));
    empty.hidden = roles0();
    empty.textContent = project.a ? "Now a second clip, from the library, for B." : "Pick a clip in the library: it becomes A.";
  }

  function roles0(): boolean {
    return Number(canvas.dataset.actors ?? 0) > 0;
  }

  store.listen((project, scene, before) => {
    if (project.view.theme !== before.project.view.theme) stage.paint(paletteOf());
    if (project.view.overlaid !== before.project.view.overlaid) shown = null; // ghosts are other meshes
    if (project !== before.project || scene.made !== before.scene.made || scene.clips !== before.scene.clips) refresh();
  });
  refresh();
  clock.onTick((time) => stage.draw(frames(time)));
  return stage;
}
