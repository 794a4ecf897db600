// The table room: transitions out of a table. Its messages are reserved, and not answered yet.

import { make } from "../dom";
import type { RoomModule } from "./room";

export const table: RoomModule = {
  name: "table",
  title: "Table",
  missing: () => "Tables of transitions come here.",
  inputs: (project) => [project.table],
  ask: () => Promise.reject(new Error("There is no table yet.")),
  mount: (within) => within.append(make("p", { class: "quiet" }, "Tables of transitions come here.")),
};
