// What every panel is: a function that fills an element and follows the store by itself.

import type { Api } from "./api";
import type { Clock } from "./clock";
import type { Store } from "./store";

export interface Tools {
  store: Store;
  api: Api;
  clock: Clock;
  // Ask the server for the result of the room in front, as the project says.
  remake(): void;
}

export type Mount = (within: HTMLElement, tools: Tools) => void;
