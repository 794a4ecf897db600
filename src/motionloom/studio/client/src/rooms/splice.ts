// The splice room: A's upper body on B's legs, by one of four methods.

import { make } from "../dom";
import type { Tools } from "../panel";
import type { Project } from "../store";
import type { RoomModule } from "./room";

const METHODS: Project["splice"]["method"][] = ["naive", "time", "time+space", "full"];

export const splice: RoomModule = {
  name: "splice",
  title: "Splice",
  missing: ({ a, b }) => (!a ? "Pick the clip with the action: it becomes A." : !b ? "Pick the clip with the legs: it becomes B." : null),
  inputs: (project) => [project.a, project.b, project.splice],
  ask: ({ a, b, splice: wish }, api) => api.ask("splice.make", { upper: a!, lower: b!, ...wish }),
  mount,
};

function mount(within: HTMLElement, { store }: Tools): void {
  const method = make("select", { attrs: { "aria-label": "method" }, on: {
    change: () => store.decide("", { splice: { ...store.project.splice, method: METHODS[method.selectedIndex] } }),
  } }, ...METHODS.map((name) => make("option", {}, name)));
  within.append(make("section", { class: "room-right" }, make("label", { class: "row" }, "method", method)));
  const draw = (): void => { method.value = store.project.splice.method; };
  store.listen(draw);
  draw();
}
