// The studio: puts the panels into the page, connects, and brings back the last visit.

import { connect } from "./api";
import { createClock } from "./clock";
import { make, replace } from "./dom";
import { mountHeader } from "./header";
import { mountHelp } from "./help";
import { mountLibrary } from "./library";
import { followLinks, readLink } from "./links";
import { followProject, ROOMS } from "./making";
import type { Tools } from "./panel";
import { drawn } from "./painted";
import { mountStage } from "./stage/view";
import { Store } from "./store";
import { setTheme } from "./theme";
import { mountTimeline } from "./timeline/timeline";
import { mountWhy } from "./why";

const SAVE_AFTER = 800; // milliseconds of rest

const store = new Store();
// Before any panel: what they draw has the theme's colours already.
store.listen((project, _scene, before) => {
  if (project.view.theme !== before.project.view.theme) setTheme(project.view.theme);
});
setTheme(store.project.view.theme);

const api = connect((open) => store.show({ connected: open }));
const tools: Tools = { store, api, clock: createClock(), remake: () => making.remake() };
const making = followProject(tools);

const [header, library, stageBox, room, why, timeline] = ["header", "library", "stage", "room", "why", "timeline"].map(
  (name) => make("div", { class: name, attrs: { id: name } }),
);
document.getElementById("studio")!.replaceChildren(header, library, stageBox, room, why, timeline);
mountHeader(header, tools);
mountLibrary(library, tools);
mountWhy(why, tools);
mountTimeline(timeline, tools);
mountHelp();

const panels = new Map(ROOMS.map((each) => {
  const panel = make("div", { class: `room-panel ${each.name}` });
  const invitation = make("p", { class: "quiet invitation-line" });
  each.mount(panel, tools);
  return [each, { panel, invitation }] as const;
}));
function drawRoom(): void {
  for (const [each, { panel, invitation }] of panels) {
    if (each.name !== store.project.room) continue;
    const missing = each.missing(store.project);
    invitation.textContent = missing ?? "";
    invitation.hidden = missing === null;
    if (room.lastChild !== panel) replace(room, invitation, panel);
  }
}
store.listen(drawRoom);
drawRoom();

async function begin(): Promise<void> {
  const [{ body: list }, { body: kept }] = await Promise.all([api.ask("library.list", {}), api.ask("project.load", {})]);
  store.show({ library: list });
  // A graphics context can take long to get: the library is on the screen before.
  await drawn();
  // Figures for the tests and for whoever wants to know.
  Object.assign(window, { studio: { store, clock: tools.clock, stage: mountStage(stageBox, tools) } });
  const known = new Set(list.items.map((item) => item.id));
  // A link says more than the last visit.
  const old = (readLink(location.hash) ?? kept.project) as { a?: string | null; b?: string | null } | null;
  // Clips that are gone are left out; the rest of the project holds.
  if (old) store.load({ ...old, a: old.a && known.has(old.a) ? old.a : null, b: old.b && known.has(old.b) ? old.b : null });
  followLinks(store);
  document.documentElement.dataset.studio = "ready";
  let timer = 0;
  store.listen((project, _scene, before) => {
    if (project === before.project) return;
    clearTimeout(timer);
    timer = window.setTimeout(() => void api.ask("project.save", { project }).catch(() => undefined), SAVE_AFTER);
  });
}
void begin();
