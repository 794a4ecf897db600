// What every panel is: a function that fills an element and follows the store.

import type { Api } from "./api";
import type { Clock } from "./clock";
import type { Store } from "./store";

export interface Tools {
  store: Store;
  api: Api;
  clock: Clock;
}

export type Mount = (within: HTMLElement, tools: Tools) => void;
