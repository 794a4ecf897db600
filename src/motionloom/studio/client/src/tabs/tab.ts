// What every tab has: how to request its result, what is missing for it, and its panel.

import type { Answered, Api } from "../api";
import type { ResultAnswer } from "../messages";
import type { State, Tab } from "../store";
import type { Mount } from "../tools";

export interface TabModule {
  name: Tab;
  title: string;
  // What the user has to do first; null when the result can be requested.
  missing(state: State): string | null;
  // Everything that the result depends on: when it changes, the result is requested again.
  inputs(state: State): unknown;
  // `have`: keys of sources that the page has.
  ask(state: State, api: Api, have: string[]): Promise<Answered<ResultAnswer>>;
  mount: Mount;
}

// Everything that the tab's result depends on, as one text.
export function keyOf(tab: TabModule, state: State): string {
  return JSON.stringify([tab.inputs(state), state.scene.revision]);
}

// Whether the shown result has the present settings: then the controls show the values it used.
export function isCurrent(tab: TabModule, state: State): boolean {
  return state.scene.results[tab.name]?.key === keyOf(tab, state);
}
