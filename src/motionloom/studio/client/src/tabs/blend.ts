// The blend tab: clips mixed by weights or by turn and speed, live and recorded.

import type { Steer } from "../api";
import { button, make, replace } from "../dom";
import { Cancelled } from "../faults";
import type { BlendDetail, Space } from "../messages";
import { nameOf, type Project, registeredBy, type State } from "../store";
import type { Tools } from "../tools";
import { createLive } from "./live_blend";
import { createPad, type PadState, tintOf } from "./pad";
import { withWeight } from "./shares";
import { isCurrent, type TabModule } from "./tab";

const MOST_CLIPS = 8;

export function clipsOf({ blend, a, b }: Project): string[] {
  return [...new Set([a, b, ...blend.clips])].filter((id): id is string => id !== null);
}

function weightsOf(project: Project): number[] {
  const clips = clipsOf(project);
  const { weights } = project.blend;
  return weights.length === clips.length ? weights : clips.map(() => 1 / clips.length);
}

// Values that the shown result used, if it has the present settings; else null.
function usedBy(store: State): BlendDetail | null {
  const detail = store.scene.results.blend?.answer.detail;
  return detail?.tab === "blend" && isCurrent(blend, store) && detail.weights.length === clipsOf(store.project).length
    ? detail
    : null;
}

export const blend: TabModule = {
  name: "blend",
  title: "Blend",
  missing: ({ project }) =>
    clipsOf(project).length < 2 ? "Pick two or more similar clips to mix: walks with walks, jumps with jumps." : null,
  inputs: ({ project }) => [clipsOf(project), project.blend, project.clean],
  ask: ({ project }, api, have) => {
    const { parameters, recorded } = project.blend;
    const mix = recorded ? { recorded } : parameters ? { parameters } : { weights: weightsOf(project) };
    const clips = clipsOf(project);
    return api.ask("blend.make", { clips, clean: project.clean, have, ...registeredBy(project), ...mix });
  },
  mount,
};

function mount(within: HTMLElement, tools: Tools): void {
  const { store, api } = tools;
  const live = createLive(tools);
  const pad = createPad(steer, release);
  const byWeights = button("by weights", "mix by the share of each clip", () => steerBy(null), "small");
  const byNames = button("by turn and speed", "mix by what the clips do", () => steerBy(middle()), "small");
  const clips = make("div", { class: "mix" });
  const add = make("select", { attrs: { "aria-label": "add a clip" }, on: { change: () => join(add.value) } });
  const go = button("▶ live", "steer the blend while it plays", () => void toggle(), "primary");
  const tape = button("● record", "record the weights while you steer", () => void toggleTape());
  const latency = make("span", { class: "quiet live-latency" });
  const recording = make("p", { class: "recorded" });
  const clean = make("input", {
    attrs: { type: "checkbox" },
    on: { change: () => store.commit("", { clean: clean.checked }) },
  });
  const cycles = make("input", {
    attrs: { type: "checkbox" },
    on: { change: () => change("", { cycles: cycles.checked, recorded: null }) },
  });
  const sync = make("input", {
    attrs: { type: "checkbox" },
    on: { change: () => change("", { sync_contacts: sync.checked, recorded: null }) },
  });
  within.append(
    make(
      "section",
      { class: "panel-left" },
      make("div", { class: "row tight" }, byWeights, byNames),
      make(
        "div",
        { class: "row tight" },
        make(
          "label",
          { class: "tick", title: "cut every clip to a gait cycle that can be repeated" },
          cycles,
          "cycles",
        ),
        make("label", { class: "tick", title: "feet come down and leave together" }, sync, "sync contacts"),
        make("label", { class: "tick" }, clean, "clean feet"),
      ),
      pad.element,
    ),
    make("section", { class: "panel-right" }, make("div", { class: "row" }, go, tape, latency), recording, clips, add),
  );

  function change(key: string, part: Partial<Project["blend"]>): void {
    store.commit(key, { blend: { ...store.project.blend, ...part } });
  }

  // While it is live the project stays the same: it takes the last values when the live blend ends.
  function steer(state: PadState): void {
    const to: Steer =
      state.kind === "weights"
        ? { weights: state.weights }
        : { parameters: Object.fromEntries(state.axes.map((name, k) => [name, state.at[k]])) };
    if (live.target) {
      live.steer(to);
      drawMix(to.weights ?? null);
    } else setMix("pad", to);
  }

  function release(): void {
    if (live.target) return;
    store.endDrag();
    draw();
  }

  function setMix(key: string, to: Steer): void {
    change(key, {
      weights: to.weights ?? store.project.blend.weights,
      parameters: to.parameters ?? null,
      recorded: null,
    });
  }

  // Another way to steer begins with the values of the shown result.
  function steerBy(parameters: Record<string, number> | null): void {
    if (!live.target)
      change("", { parameters, recorded: null, weights: usedBy(store)?.weights ?? store.project.blend.weights });
  }

  // Turn and speed of a mix.
  function mixed({ names, values }: Space, weights: number[]): Record<string, number> {
    return Object.fromEntries(
      names.map((name, p) => [name, values.reduce((sum, row, k) => sum + weights[k] * row[p], 0)]),
    );
  }

  function middle(): Record<string, number> | null {
    const space = store.scene.space.value;
    return space?.names.length ? mixed(space, usedBy(store)?.weights ?? weightsOf(store.project)) : null;
  }

  async function toggle(): Promise<void> {
    if (live.target) await end();
    else {
      const { parameters } = store.project.blend;
      try {
        await live.start(clipsOf(store.project), parameters ? { parameters } : { weights: weightsOf(store.project) });
        store.clear("live");
      } catch (error) {
        if (!(error instanceof Cancelled)) store.fail("live", error);
      }
    }
  }

  async function toggleTape(): Promise<void> {
    if (store.scene.liveBlend?.recording) await end();
    else {
      if (!live.target) await toggle();
      live.record();
    }
  }

  async function end(): Promise<void> {
    const last = live.target;
    const steered = store.scene.liveBlend?.clips.join("\n");
    const recorded = await live.stop();
    if (steered !== clipsOf(store.project).join("\n")) return; // the weights are of other clips
    if (recorded.length > 1) change("", { recorded });
    else if (last) setMix("", last);
  }

  function join(id: string): void {
    if (id) change("", { clips: [...store.project.blend.clips, id], weights: [], parameters: null, recorded: null });
  }

  function leave(id: string): void {
    const { a, b, blend: mix } = store.project;
    store.commit("", {
      a: a === id ? null : a,
      b: b === id ? null : b,
      blend: {
        ...mix,
        clips: mix.clips.filter((each) => each !== id),
        weights: [],
        parameters: null,
        recorded: null,
      },
    });
  }

  async function readSpace(): Promise<void> {
    const ids = clipsOf(store.project);
    const by = registeredBy(store.project);
    const key = [...ids, by.cycles, by.sync_contacts].join("\n");
    if (store.scene.space.key === key || ids.length < 2) return;
    store.show({ space: { key, value: null } });
    const answer = await api.ask("blend.space", { clips: ids, ...by }).catch(() => null);
    if (store.scene.space.key !== key) return;
    // The result reports clips that do not match.
    store.show({ space: answer ? { key, value: answer.body } : { key: "", value: null } });
  }

  function draw(): void {
    const { project } = store;
    const ids = clipsOf(project);
    const { parameters, recorded } = project.blend;
    const space = store.scene.space.value;
    clean.checked = project.clean;
    cycles.checked = project.blend.cycles;
    sync.checked = project.blend.sync_contacts;
    const able = space !== null && space.names.length > 0;
    byWeights.setAttribute("aria-pressed", String(!parameters));
    byNames.setAttribute("aria-pressed", String(parameters !== null));
    byNames.textContent = able ? `by ${space.names.join(" and ")}` : "by turn and speed";
    byNames.disabled = !able;
    byNames.title = able ? "mix by turn and speed" : "these clips have the same turn and speed";
    go.disabled = tape.disabled = ids.length < 2;
    // Pad and sliders show the values of the result; without a current one, those of the project.
    const used = usedBy(store);
    const weights = used?.weights ?? weightsOf(project);
    if (!live.target && ids.length > 1) {
      if (parameters && able) {
        const at = used ? (used.parameters ?? mixed(space, weights)) : parameters;
        pad.show({
          kind: "plane",
          axes: space.names,
          ranges: space.ranges,
          clips: ids,
          values: space.values,
          at: space.names.map((name) => at[name] ?? parameters[name] ?? 0),
        });
      } else pad.show({ kind: "weights", names: ids, weights });
    }
    pad.element.hidden = ids.length < 2;
    const result = store.scene.results.blend?.answer;
    if (!live.target || clips.dataset.ids !== ids.join("\n")) drawMix(weights);
    const free = store.scene.library.items.filter(({ id }) => !ids.includes(id));
    add.hidden = ids.length >= MOST_CLIPS || !free.length;
    replace(
      add,
      make("option", { attrs: { value: "" } }, "+ another clip"),
      ...free.map(({ id, name }) => make("option", { attrs: { value: id } }, name)),
    );
    const files = recorded ? (result?.files ?? []) : [];
    replace(
      recording,
      ...(recorded
        ? [
            `recorded for ${(recorded.length / (store.scene.results.blend?.motion.fps ?? 60)).toFixed(1)} s `,
            ...files.map(({ name, url }) => make("a", { attrs: { href: url, download: name } }, name)),
            " ",
            button("discard", "back to constant weights", () => change("", { recorded: null }), "small"),
          ]
        : []),
    );
    drawLive();
  }

  function drawMix(weights: number[] | null): void {
    const ids = clipsOf(store.project);
    if (!weights) return;
    if (clips.childElementCount !== ids.length || clips.dataset.ids !== ids.join("\n")) {
      clips.dataset.ids = ids.join("\n");
      replace(
        clips,
        ...ids.map((id, k) => {
          const share = make("input", {
            attrs: { type: "range", min: "0", max: "1", step: "0.01", "aria-label": `share of ${id}` },
            on: {
              input: () => slide(k, Number(share.value)),
              change: () => release(),
            },
          });
          return make(
            "div",
            { class: `mix-row ${tintOf(k)}` },
            make("span", { class: "mix-name", title: id }, nameOf(store, id)),
            share,
            make("output"),
            button("×", `remove ${id}`, () => leave(id), "small bare"),
          );
        }),
      );
    }
    [...clips.children].forEach((row, k) => {
      row.querySelector("input")!.value = String(weights[k]);
      row.querySelector("output")!.textContent = `${Math.round(100 * weights[k])} %`;
    });
  }

  function slide(k: number, share: number): void {
    const now = live.target?.weights ?? usedBy(store)?.weights ?? weightsOf(store.project);
    const weights = clipsOf(store.project).length > 1 ? withWeight(now, k, share) : [1];
    pad.show({ kind: "weights", names: clipsOf(store.project), weights });
    steer({ kind: "weights", names: clipsOf(store.project), weights });
  }

  function drawLive(): void {
    const now = store.scene.liveBlend;
    go.textContent = now ? "■ end" : "▶ live";
    tape.textContent = now?.recording ? `■ keep ${now.seconds.toFixed(1)} s` : "● record";
    tape.classList.toggle("recording", now?.recording ?? false);
    latency.textContent = now ? `${now.latency.toFixed(1)} ms per pose` : "";
    within.dataset.live = String(now !== null);
  }

  store.listen((project, scene, before) => {
    // Another tab or other clips end a live blend; its recording and its last values stay.
    const clips = scene.liveBlend?.clips.join("\n");
    const { cycles, sync_contacts } = before.project.blend;
    const other = cycles !== project.blend.cycles || sync_contacts !== project.blend.sync_contacts;
    if (clips !== undefined && (other || project.tab !== "blend" || clips !== clipsOf(project).join("\n")))
      void end().catch(() => undefined);
    if (project.tab !== "blend") return;
    const same = ["results", "library", "space"] as const;
    if (project !== before.project || same.some((name) => scene[name] !== before.scene[name])) {
      void readSpace();
      draw();
    } else if (scene.liveBlend !== before.scene.liveBlend) drawLive();
  });
  draw();
}
