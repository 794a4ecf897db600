// The header: tabs, undo and redo, theme, help, project files, sharing, export.

import { button, make } from "./dom";
import { mountExport } from "./export";
import { createHelp } from "./help";
import { TABS } from "./making";
import { mountProjectFile } from "./projectfile";
import { mountShare } from "./share";
import { setTheme } from "./theme";
import type { Mount } from "./tools";

export const mountHeader: Mount = (within, tools) => {
  const { store } = tools;
  const tabs = TABS.map((each, n) => {
    const tab = button(each.title, `${each.title} (${n + 1})`, () => store.commit("tab", { tab: each.name }), "tab");
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "settings");
    tab.dataset.tab = each.name;
    return tab;
  });
  const undo = button("↶", "undo (Ctrl Z)", () => store.undo(), "icon");
  const redo = button("↷", "redo (Ctrl Shift Z)", () => store.redo(), "icon");
  const theme = button(
    "◐",
    "light or dark",
    () => {
      const dark = document.documentElement.dataset.theme === "dark";
      store.commit("", { view: { ...store.project.view, theme: dark ? "light" : "dark" } });
    },
    "icon",
  );
  const help = createHelp();
  const state = make("span", { class: "state", attrs: { role: "status" } });
  const [files, shares, out] = ["files", "share", "export"].map((name) => make("div", { class: name }));
  within.append(
    make("h1", {}, "motionloom"),
    make(
      "div",
      { class: "tabs", attrs: { role: "tablist", "aria-label": "what to make" }, on: { keydown: walkTabs } },
      ...tabs,
    ),
    state,
    make("span", { class: "gap" }),
    undo,
    redo,
    theme,
    help,
    files,
    shares,
    out,
  );
  mountProjectFile(files, tools);
  mountShare(shares, tools);
  mountExport(out, tools);

  // Arrow keys go from tab to tab; the tab key stops at the chosen one only.
  function walkTabs(event: KeyboardEvent): void {
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!way) return;
    event.preventDefault();
    event.stopPropagation();
    const now = TABS.findIndex(({ name }) => name === store.project.tab);
    const next = (now + way + TABS.length) % TABS.length;
    store.commit("tab", { tab: TABS[next].name });
    tabs[next].focus();
  }

  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (on.closest("input:not([type=range]):not([type=checkbox]), textarea")) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      if (event.shiftKey) store.redo();
      else store.undo();
    } else if (!event.ctrlKey && !event.metaKey && TABS[Number(event.key) - 1]) {
      store.commit("tab", { tab: TABS[Number(event.key) - 1].name });
    }
  });

  for (const each of [undo, redo, theme]) each.setAttribute("aria-label", each.title);

  function draw(): void {
    for (const tab of tabs) {
      const chosen = tab.dataset.tab === store.project.tab;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
    }
    undo.disabled = !store.canUndo;
    redo.disabled = !store.canRedo;
    state.textContent = store.scene.connection.state === "connecting" ? "connecting ..." : "";
  }
  setTheme(store.project.view.theme);
  store.listen(draw);
  draw();
};
