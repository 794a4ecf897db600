// What every room is: how to ask for its result, when it can, and its own panel.

import type { Api, Answered } from "../api";
import type { ResultAnswer } from "../messages";
import type { Mount } from "../panel";
import type { Project, Room } from "../store";

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
