// The blend tab: clips mixed by weights or by turn and speed, steered live, recorded.

import { button, make, replace } from "../dom";
import { Cancelled } from "../faults";
import type { Answers, BlendDetail, Steer } from "../messages";
import type { Tools } from "../panel";
import { nameOf, type Project, type Store } from "../store";
import "./blend.css";
import { createLive } from "./live";
import { createPad, type PadState, tintOf } from "./pad";
import { isCurrent, type RoomModule } from "./room";
import { withWeight } from "./shares";

const MOST_CLIPS = 8;

export function clipsOf({ blend, a, b }: Project): string[] {
  return [...new Set([a, b, ...blend.clips])].filter((id): id is string => id !== null);
}

function weightsOf(project: Project): number[] {
  const clips = clipsOf(project);
  const { weights } = project.blend;
  return weights.length === clips.length ? weights : clips.map(() => 1 / clips.length);
}

// What the shown result was made with, where it is of the present settings; else null.
function usedBy(store: Store): BlendDetail | null {
  const detail = store.scene.made.blend?.answer.detail;
  return detail?.room === "blend" && isCurrent(blend, store) && detail.weights.length === clipsOf(store.project).length
    ? detail
    : null;
}

export const blend: RoomModule = {
  name: "blend",
  title: "Blend",
  missing: (project) =>
    clipsOf(project).length < 2 ? "Pick two or more similar clips to mix: walks with walks, jumps with jumps." : null,
  inputs: (project) => [clipsOf(project), project.blend, project.clean],
  ask: (project, api, have) => {
    const { parameters, recorded } = project.blend;
    const wish = recorded ? { recorded } : parameters ? { parameters } : { weights: weightsOf(project) };
    return api.ask("blend.make", { clips: clipsOf(project), clean: project.clean, have, ...wish });
  },
  mount,
};

type Space = Answers["blend.space"];

function mount(within: HTMLElement, tools: Tools): void {
  const { store, api } = tools;
  let space: { key: string; found: Space | null } = { key: "", found: null };
  const live = createLive(tools, drawLive);
  const pad = createPad(hand, release);
  const byWeights = button("by weights", "mix by the share of each clip", () => steerBy(null), "small");
  const byNames = button("by turn and speed", "mix by what the clips do", () => steerBy(middle()), "small");
  const clips = make("div", { class: "mix" });
  const add = make("select", { attrs: { "aria-label": "add a clip" }, on: { change: () => join(add.value) } });
  const go = button("▶ live", "steer the blend while it plays", () => void toggle(), "primary");
  const tape = button("● record", "record the weights while you steer", () => void toggleTape());
  const latency = make("span", { class: "quiet live-latency" });
  const kept = make("p", { class: "recorded" });
  const clean = make("input", {
    attrs: { type: "checkbox" },
    on: { change: () => store.decide("", { clean: clean.checked }) },
  });
  within.append(
    make(
      "section",
      { class: "room-left" },
      make(
        "div",
        { class: "row tight" },
        byWeights,
        byNames,
        make("span", { class: "gap" }),
        make("label", { class: "tick" }, clean, "clean feet"),
      ),
      pad.element,
    ),
    make("section", { class: "room-right" }, make("div", { class: "row" }, go, tape, latency), kept, clips, add),
  );

  function change(key: string, part: Partial<Project["blend"]>): void {
    store.decide(key, { blend: { ...store.project.blend, ...part } });
  }

  // What the hand did last, while live: it is decided when the live blend ends.
  let held: Steer | null = null;
  let steered = ""; // clips of the live blend

  function hand(state: PadState): void {
    const to: Steer =
      state.kind === "weights"
        ? { weights: state.weights }
        : { parameters: Object.fromEntries(state.axes.map((name, k) => [name, state.at[k]])) };
    if (live.on) {
      held = to;
      live.steer(to);
      drawMix(to.weights ?? null);
    } else decideOn("pad", to);
  }

  function release(): void {
    if (live.on) return;
    store.settle();
    draw();
  }

  function decideOn(key: string, to: Steer): void {
    change(key, {
      weights: to.weights ?? store.project.blend.weights,
      parameters: to.parameters ?? null,
      recorded: null,
    });
  }

  // The other way to steer begins where the shown result is.
  function steerBy(parameters: Record<string, number> | null): void {
    if (!live.on)
      change("", { parameters, recorded: null, weights: usedBy(store)?.weights ?? store.project.blend.weights });
  }

  // Turn and speed of a mix.
  function mixed(found: Space, weights: number[]): Record<string, number> {
    return Object.fromEntries(
      found.names.map((name, p) => [name, found.values.reduce((sum, row, k) => sum + weights[k] * row[p], 0)]),
    );
  }

  function middle(): Record<string, number> | null {
    const found = space.found;
    return found?.names.length ? mixed(found, usedBy(store)?.weights ?? weightsOf(store.project)) : null;
  }

  async function toggle(): Promise<void> {
    if (live.on) await end();
    else {
      const { parameters } = store.project.blend;
      held = parameters ? { parameters } : { weights: weightsOf(store.project) };
      steered = clipsOf(store.project).join("\n");
      try {
        await live.start(clipsOf(store.project), held);
        store.heal("live");
      } catch (error) {
        if (!(error instanceof Cancelled)) store.fail("live", error);
      }
    }
  }

  async function toggleTape(): Promise<void> {
    if (live.recording) await end();
    else {
      if (!live.on) await toggle();
      if (live.on) live.record();
    }
  }

  async function end(): Promise<void> {
    const last = held;
    held = null;
    const recorded = await live.stop();
    if (steered !== clipsOf(store.project).join("\n")) return; // the weights are of other clips
    if (recorded.length > 1) change("", { recorded });
    else if (last) decideOn("", last);
  }

  function join(id: string): void {
    if (id) change("", { clips: [...store.project.blend.clips, id], weights: [], parameters: null, recorded: null });
  }

  function leave(id: string): void {
    const { a, b, blend: wish } = store.project;
    store.decide("", {
      a: a === id ? null : a,
      b: b === id ? null : b,
      blend: { clips: wish.clips.filter((each) => each !== id), weights: [], parameters: null, recorded: null },
    });
  }

  async function learn(): Promise<void> {
    const ids = clipsOf(store.project);
    const key = ids.join("\n");
    if (space.key === key || ids.length < 2) return;
    space = { key, found: null };
    try {
      const { body } = await api.ask("blend.space", { clips: ids });
      if (space.key === key) space.found = body;
    } catch {
      if (space.key === key) space.key = ""; // the result reports clips that do not match
      return;
    }
    draw();
  }

  function draw(): void {
    const { project } = store;
    const ids = clipsOf(project);
    const { parameters, recorded } = project.blend;
    const found = space.found;
    clean.checked = project.clean;
    const able = found !== null && found.names.length > 0;
    byWeights.setAttribute("aria-pressed", String(!parameters));
    byNames.setAttribute("aria-pressed", String(parameters !== null));
    byNames.textContent = able ? `by ${found.names.join(" and ")}` : "by turn and speed";
    byNames.disabled = !able;
    byNames.title = able ? "mix by turn and speed" : "these clips have the same turn and speed";
    go.disabled = tape.disabled = ids.length < 2;
    // Pad and sliders show what the result used; while it is being made, what was asked for.
    const used = usedBy(store);
    const weights = used?.weights ?? weightsOf(project);
    if (!live.on && ids.length > 1) {
      if (parameters && able) {
        const at = used ? (used.parameters ?? mixed(found, weights)) : parameters;
        pad.show({
          kind: "plane",
          axes: found.names,
          ranges: found.ranges,
          clips: ids,
          values: found.values,
          at: found.names.map((name) => at[name] ?? parameters[name] ?? 0),
        });
      } else pad.show({ kind: "weights", names: ids, weights });
    }
    pad.element.hidden = ids.length < 2;
    const made = store.scene.made.blend?.answer;
    if (!live.on || clips.dataset.ids !== ids.join("\n")) drawMix(weights);
    const free = store.scene.library.items.filter(({ id }) => !ids.includes(id));
    add.hidden = ids.length >= MOST_CLIPS || !free.length;
    replace(
      add,
      make("option", { attrs: { value: "" } }, "+ another clip"),
      ...free.map(({ id, name }) => make("option", { attrs: { value: id } }, name)),
    );
    const files = recorded ? (made?.files ?? []) : [];
    replace(
      kept,
      ...(recorded
        ? [
            `recorded for ${(recorded.length / (store.scene.made.blend?.motion.fps ?? 60)).toFixed(1)} s `,
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
    const now = held?.weights ?? usedBy(store)?.weights ?? weightsOf(store.project);
    const weights = clipsOf(store.project).length > 1 ? withWeight(now, k, share) : [1];
    pad.show({ kind: "weights", names: clipsOf(store.project), weights });
    hand({ kind: "weights", names: clipsOf(store.project), weights });
  }

  function drawLive(): void {
    go.textContent = live.on ? "■ end" : "▶ live";
    tape.textContent = live.recording ? `■ keep ${live.seconds.toFixed(1)} s` : "● record";
    tape.classList.toggle("recording", live.recording);
    latency.textContent = live.on ? `${live.latency.toFixed(1)} ms a pose` : "";
    within.dataset.live = String(live.on);
  }

  store.listen((project, scene, before) => {
    // With another tab or other clips a live blend is over; what was recorded and steered is not lost.
    if (live.on && (project.room !== "blend" || steered !== clipsOf(project).join("\n")))
      void end().catch(() => undefined);
    if (project.room !== "blend") return;
    if (project === before.project && scene.made === before.scene.made && scene.library === before.scene.library)
      return;
    void learn();
    draw();
  });
  draw();
}
