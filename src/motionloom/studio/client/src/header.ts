// The head of the page: rooms as tabs, undo and redo, light and dark, export.

import { button, make } from "./dom";
import { mountExport } from "./export";
import { ROOMS } from "./making";
import type { Mount } from "./panel";
import { mountProjectFile } from "./projectfile";
import { mountShare } from "./share";
import { setTheme } from "./theme";

export const mountHeader: Mount = (within, tools) => {
  const { store } = tools;
  const tabs = ROOMS.map((room, n) => {
    const tab = button(room.title, `${room.title} (${n + 1})`, () => store.decide("room", { room: room.name }), "tab");
    tab.setAttribute("role", "tab");
    tab.dataset.room = room.name;
    return tab;
  });
  const undo = button("↶", "undo (Ctrl Z)", () => store.undo(), "icon");
  const redo = button("↷", "redo (Ctrl Shift Z)", () => store.redo(), "icon");
  const theme = button("◐", "light or dark", () => {
    const dark = document.documentElement.dataset.theme === "dark";
    store.decide("", { view: { ...store.project.view, theme: dark ? "light" : "dark" } });
  }, "icon");
  const state = make("span", { class: "state", attrs: { role: "status" } });
  const [files, shares, out] = ["files", "share", "export"].map((name) => make("div", { class: name }));
  within.append(make("h1", {}, "motionloom"), make("nav", { attrs: { role: "tablist" } }, ...tabs), state, make("span", { class: "gap" }), undo, redo, theme, files, shares, out);
  mountProjectFile(files, tools);
  mountShare(shares, tools);
  mountExport(out, tools);

  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (on.closest("input:not([type=range]):not([type=checkbox]), textarea")) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) store.redo();
      else store.undo();
    } else if (!event.ctrlKey && !event.metaKey && ROOMS[Number(event.key) - 1]) {
      store.decide("room", { room: ROOMS[Number(event.key) - 1].name });
    }
  });

  function draw(): void {
    for (const tab of tabs) tab.setAttribute("aria-selected", String(tab.dataset.room === store.project.room));
    undo.disabled = !store.canUndo;
    redo.disabled = !store.canRedo;
    state.textContent = store.scene.connected ? "" : "connecting ...";
  }
  setTheme(store.project.view.theme);
  store.listen(draw);
  draw();
};
