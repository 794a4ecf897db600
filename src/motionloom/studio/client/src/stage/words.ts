// Names and words for the stage's buttons, the same in the studio and on single pages.

import type { ViewName } from "./camera";
import type { Switch } from "./layer";

export const VIEWS: [ViewName, string][] = [
  ["three-quarter", "3/4"],
  ["front", "front"],
  ["side", "side"],
  ["top", "top"],
];
export const LAYER_WORDS: Record<Switch, string> = {
  prints: "footprints: green where a foot stands, red and hollow where it slides",
  path: "the root's path on the ground",
  trails: "the last second of hands and feet",
  balance: "centre of mass, zero moment point and what the feet support",
  skin: "the skin of the file",
};
