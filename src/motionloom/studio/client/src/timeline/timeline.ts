// The timeline: buttons, strips and lanes, curves; one under the other.

import { make } from "../dom";
import type { Mount } from "../panel";
import { mountCurves } from "./curves";
import { mountLanes } from "./lanes";
import { mountTransport } from "./transport";

export const mountTimeline: Mount = (within, tools) => {
  const bar = make("div", { class: "bar" });
  within.append(bar);
  mountTransport(bar, tools);
  mountLanes(within, tools);
  mountCurves(within, tools);
};
