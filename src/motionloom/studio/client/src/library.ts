// The library: clips by folder, searched by name, dropped or added as files.

import { ClipRow } from "./clip_row";
import { stillWanted } from "./clock";
import { button, make, replace } from "./dom";
import { Cancelled, Gone, textOf } from "./faults";
import type { Item } from "./messages";
import { motionOf } from "./motion";
import { paletteOf } from "./theme";
import type { Mount, Tools } from "./tools";

const PREVIEW_FPS = 12;
const MOST_REQUESTED = 16; // previews at once; the server refuses many more

export const mountLibrary: Mount = (within, tools) => {
  const { store, api } = tools;
  const search = make("input", {
    class: "search",
    attrs: { type: "search", placeholder: "search clips", "aria-label": "search clips" },
    on: {
      input: () => filter(),
      keydown: (event) => {
        if (event.key !== "ArrowDown") return;
        event.preventDefault();
        visible()[0]?.element.focus();
      },
    },
  });
  const heading = make("h2", {}, "Library");
  const pick = make("input", {
    attrs: { type: "file", multiple: "", "aria-label": "clip files" },
    on: {
      change: () => {
        for (const file of pick.files ?? []) void add(file);
        pick.value = "";
      },
    },
  });
  pick.hidden = true;
  const open = button("+ Add", "add clips from files; or drop them here", () => pick.click(), "small");
  const none = make("p", { class: "quiet nothing" });
  const list = make("div", { class: "clips", attrs: { role: "grid", "aria-label": "clips", "aria-readonly": "true" } });
  within.append(
    make(
      "div",
      { class: "library-head" },
      make("div", { class: "row tight" }, heading, make("span", { class: "gap" }), open, pick),
      search,
    ),
    none,
    list,
  );
  const rows = new Map<string, ClipRow>();

  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        const row = rows.get((entry.target as HTMLElement).dataset.clip ?? "");
        if (!row) continue;
        row.inSight = entry.isIntersecting;
      }
      fillSeen();
    },
    { root: list },
  );
  let requested = 0;

  // Visible rows come first: rows that were scrolled past are not requested.
  function fillSeen(): void {
    for (const row of rows.values()) {
      if (requested >= MOST_REQUESTED) return;
      if (row.inSight && !row.requested && store.scene.connected) void fill(row);
    }
  }

  async function fill(row: ClipRow): Promise<void> {
    row.requested = true;
    requested++;
    try {
      const {
        body,
        arrays: { points },
      } = await api.ask("library.preview", { clip: row.item.id });
      row.preview = { looks: body.looks, points: points.values as Float32Array, frames: points.shape[0] };
      row.report(body.facts);
      store.show({ facts: { ...store.scene.facts, [row.item.id]: body.facts } });
    } catch (error) {
      if (error instanceof Gone)
        row.requested = false; // requested again after the reconnect
      else row.fail(textOf(error));
    } finally {
      requested--;
    }
    fillSeen();
  }

  // Rows in the order of the list, without those that the search hides.
  function visible(): ClipRow[] {
    return [...list.querySelectorAll<HTMLElement>(".clip:not([hidden])")].map(
      (element) => rows.get(element.dataset.clip!)!,
    );
  }

  // One stop of the tab key for the whole list: the row that had the focus last.
  function stopAt(row: ClipRow | undefined): void {
    for (const each of rows.values()) each.element.tabIndex = each === row ? 0 : -1;
  }

  function move(from: ClipRow, step: number | "first" | "last"): void {
    const shown = visible();
    const to = step === "first" ? 0 : step === "last" ? shown.length - 1 : shown.indexOf(from) + step;
    const row = shown[Math.min(Math.max(to, 0), shown.length - 1)];
    row?.element.focus();
    row?.element.scrollIntoView({ block: "nearest" });
  }

  function lay(items: Item[]): void {
    const ids = new Set(items.map(({ id }) => id));
    for (const [id, row] of rows) {
      if (ids.has(id)) continue;
      seen.unobserve(row.element);
      rows.delete(id);
    }
    for (const item of items) {
      if (rows.has(item.id)) continue;
      const row = new ClipRow(item, {
        choose: (slot) => choose(tools, item.id, slot),
        move: (step) => move(row, step),
      });
      row.element.addEventListener("focus", () => stopAt(row));
      rows.set(item.id, row);
      seen.observe(row.element);
    }
    const groups = new Map<string, Item[]>();
    for (const item of items) groups.set(item.group, [...(groups.get(item.group) ?? []), item]);
    replace(
      list,
      ...[...groups].map(([group, members]) =>
        make(
          "div",
          { class: "group", attrs: { role: "rowgroup", "aria-label": group || "this folder" } },
          groups.size > 1
            ? make("div", { class: "group-name", attrs: { "aria-hidden": "true" } }, group || "this folder")
            : null,
          ...members.map((item) => rows.get(item.id)!.element),
        ),
      ),
    );
    filter();
  }

  function filter(): void {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { item, element } of rows.values()) {
      element.hidden = !words.every((word) => item.id.toLowerCase().includes(word));
    }
    for (const group of list.children) (group as HTMLElement).hidden = !group.querySelector(".clip:not([hidden])");
    const shown = visible();
    none.textContent = shown.length
      ? ""
      : rows.size
        ? "No clip has this name."
        : "This folder has no clips. Drop files here.";
    none.hidden = shown.length > 0;
    list.hidden = !shown.length;
    if (!shown.some(({ element }) => element.tabIndex === 0)) stopAt(shown[0]);
  }

  store.listen((project, scene, before) => {
    if (scene.library !== before.scene.library) {
      heading.textContent = scene.library.name;
      for (const id of scene.library.changed ?? []) rows.get(id)?.forget();
      lay(scene.library.items);
    }
    fillSeen();
    for (const [id, row] of rows) {
      const role = id === project.a ? "A" : id === project.b ? "B" : null;
      row.element.classList.toggle("is-a", id === project.a);
      row.element.classList.toggle("is-b", id === project.b);
      row.element.setAttribute("aria-selected", String(role !== null));
    }
  });

  const still = stillWanted();
  let last = -1;
  tools.clock.onTick(() => {
    const beat = Math.floor((performance.now() / 1000) * PREVIEW_FPS);
    if (beat === last) return;
    last = beat;
    const colour = paletteOf().ink;
    for (const row of rows.values()) row.draw(beat, still, colour);
  });

  within.addEventListener("dragover", (event) => event.preventDefault());
  within.addEventListener("drop", (event) => {
    event.preventDefault();
    for (const file of event.dataTransfer?.files ?? []) void add(file);
  });

  async function add(file: File): Promise<void> {
    const cause = `upload:${file.name}`;
    try {
      const items = await api.upload(file);
      const { body } = await api.ask("library.list", {});
      store.show({ library: { name: body.name, items: body.items } });
      store.clear(cause);
      rows.get(items[0].id)?.element.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (error instanceof Cancelled) store.clear(cause);
      else store.fail(cause, error);
    }
  }
};

// A clip into a slot: the one named, else the first that is free, else B.
export function choose({ store }: Tools, id: string, slot: "a" | "b" | null): void {
  const { a, b, transition } = store.project;
  const into = slot ?? (a === null || (a === id && b !== null) ? "a" : "b");
  if (slot === null && (id === a || id === b)) return;
  store.commit("", { [into]: id, transition: { ...transition, at: null } });
}

// Clips that the project names are opened for the stage.
export async function openClip({ store, api }: Tools, id: string): Promise<void> {
  const { body, arrays } = await api.ask("clip.open", { clip: id, plants: store.project.plants[id] ?? null });
  store.show({ clips: { ...store.scene.clips, [id]: motionOf(body.shown, arrays) } });
}
