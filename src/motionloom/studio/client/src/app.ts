// The studio: puts the panels into the page, connects, and restores the last visit.

import { connect } from "./api";
import { createClock } from "./clock";
import { mountConnection } from "./connection";
import { make, replace } from "./dom";
import { Gone, textOf } from "./faults";
import { mountHeader } from "./header";
import { mountLibrary } from "./library";
import { takeLibrary } from "./library_changes";
import { followLinks, knownClips, readLink, reportLink } from "./links";
import { followProject, TABS } from "./making";
import { drawn } from "./painted";
import { mountProgress } from "./progress";
import { checkProject, reportOf } from "./projectcheck";
import { mountSkip } from "./skip";
import { mountStage } from "./stage/view";
import { FIRST, Store } from "./store";
import { setTheme } from "./theme";
import { mountTimeline } from "./timeline/timeline";
import type { Tools } from "./tools";
import { mountWhy } from "./why";

const SAVE_AFTER = 800; // milliseconds of rest

const store = new Store();
// Before any panel: they draw with the colours of the theme.
store.listen((project, _scene, before) => {
  if (project.view.theme !== before.project.view.theme) setTheme(project.view.theme);
});
setTheme(store.project.view.theme);

const api = connect({
  connection: (connection) => store.show({ connection, connected: connection.state === "open" }),
  tasks: (tasks) => store.show({ tasks }),
  pushed: (message) => takeLibrary(store, message, message.changed),
});
const tools: Tools = { store, api, clock: createClock() };
followProject(tools);

const [header, library, stageBox, settings, why, timeline] = (
  [
    ["header", "header", ""],
    ["section", "library", "Library"],
    ["main", "stage", "Stage"],
    ["section", "settings", "Settings"],
    ["aside", "why", "Quality"],
    ["section", "timeline", "Timeline"],
  ] as const
).map(([tag, name, label]) =>
  make(tag, { class: name, attrs: label ? { id: name, "aria-label": label } : { id: name } }),
);
document.getElementById("studio")!.replaceChildren(header, library, stageBox, settings, why, timeline);
mountSkip(() => document.querySelector<HTMLElement>(".stage-canvas"));
mountHeader(header, tools);
mountLibrary(library, tools);
mountWhy(why, tools);
mountTimeline(timeline, tools);
mountProgress(stageBox, tools);
mountConnection(tools);

const panels = new Map(
  TABS.map((each) => {
    const panel = make("div", { class: `tab-panel ${each.name}` });
    const invitation = make("p", { class: "quiet invitation-line" });
    each.mount(panel, tools);
    return [each, { panel, invitation }] as const;
  }),
);
function drawSettings(): void {
  for (const [each, { panel, invitation }] of panels) {
    if (each.name !== store.project.tab) continue;
    const missing = each.missing(store);
    invitation.textContent = missing ?? "";
    invitation.hidden = missing === null;
    settings.setAttribute("aria-label", `${each.title} settings`);
    if (settings.lastChild !== panel) replace(settings, invitation, panel);
  }
}
store.listen(drawSettings);
drawSettings();

// An answer; the request is repeated if the socket closes before it arrives.
async function askUntil<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
    }
  }
}

async function readLibrary(): Promise<void> {
  const { body } = await askUntil(() => api.ask("library.list", {}));
  store.show({ command: body.command });
  takeLibrary(store, body, []);
}

async function begin(): Promise<void> {
  await readLibrary();
  const stored = await askUntil(() => api.ask("project.load", {})).then(
    ({ body }) => body,
    (error: unknown) => ({ project: null, problem: textOf(error) }),
  );
  // A graphics context can take long to get: the library is on the screen before.
  await drawn();
  // For tests and for the browser's console.
  Object.assign(window, { studio: { store, clock: tools.clock, stage: mountStage(stageBox, tools) } });
  const library = knownClips(store);
  const link = readLink(location.hash, library);
  // A valid link has priority over the last visit.
  const old =
    link && link.project !== FIRST ? link : stored.project === null ? null : checkProject(stored.project, library);
  if (old) store.load(old.project);
  if (link) reportLink(store, link);
  else if (old?.problems.length) store.fail("link", reportOf("the last visit", old));
  if (stored.problem) store.fail("project", stored.problem);
  followLinks(store);
  document.documentElement.dataset.studio = "ready";
  const save = (): void => void api.ask("project.save", { project: { ...store.project } }).catch(() => undefined);
  let timer = 0;
  store.listen((project, scene, before) => {
    if (scene.connected && !before.scene.connected) void readLibrary().then(save, () => undefined);
    if (project === before.project) return;
    clearTimeout(timer);
    timer = window.setTimeout(save, SAVE_AFTER);
  });
}
begin().catch((error: unknown) => store.fail("start", error));
