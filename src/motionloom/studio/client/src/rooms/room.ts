// What every tab is: how to ask for its result, when it can, and its own panel.

import type { Answered, Api } from "../api";
import type { ResultAnswer } from "../messages";
import type { Mount } from "../panel";
import type { Project, Room, Store } from "../store";

export interface RoomModule {
  name: Room;
  title: string;
  // What is still missing, in words that invite; null when the result can be made.
  missing(project: Project): string | null;
  // All of the project that the result depends on: when it changes, the result is made again.
  inputs(project: Project): unknown;
  // `have`: keys of sources that the page holds.
  ask(project: Project, api: Api, have: string[]): Promise<Answered<ResultAnswer>>;
  mount: Mount;
}

// All that the room's result depends on, as one text.
export function keyOf(room: RoomModule, { project, scene }: Store): string {
  return JSON.stringify([room.inputs(project), scene.revision]);
}

// Whether the shown result was made with the present settings: then the controls show what it used.
export function isCurrent(room: RoomModule, store: Store): boolean {
  return store.scene.made[room.name]?.key === keyOf(room, store);
}
