// The blend room: clips mixed by weights. For now one slider between A and B.

import { make } from "../dom";
import type { Tools } from "../panel";
import type { Project } from "../store";
import type { RoomModule } from "./room";

function clipsOf({ blend, a, b }: Project): string[] {
  return blend.clips.length > 1 ? blend.clips : [a, b].filter((id): id is string => id !== null);
}

export const blend: RoomModule = {
  name: "blend",
  title: "Blend",
  missing: (project) => (new Set(clipsOf(project)).size < 2 ? "Pick two clips or more to mix." : null),
  inputs: (project) => [clipsOf(project), project.blend, project.clean],
  ask: (project, api) => {
    const clips = clipsOf(project);
    const { weights } = project.blend;
    const even = clips.map(() => 1 / clips.length);
    return api.ask("blend.make", { clips, weights: weights.length === clips.length ? weights : even, clean: project.clean });
  },
  mount,
};

function mount(within: HTMLElement, { store }: Tools): void {
  const share = make("input", { attrs: { type: "range", min: "0", max: "1", step: "0.01", "aria-label": "share of B" }, on: {
    input: () => store.decide("weights", { blend: { ...store.project.blend, weights: [1 - Number(share.value), Number(share.value)] } }),
    change: () => store.settle(),
  } });
  within.append(make("section", { class: "room-right" }, make("label", { class: "row" }, "A", share, "B")));
  const draw = (): void => { share.value = String(store.project.blend.weights[1] ?? 0.5); };
  store.listen(draw);
  draw();
}
