// The library: clips by skeleton, searched by name, each with a small moving figure.

import { stillWanted } from "./clock";
import { make, replace } from "./dom";
import type { Facts, Item, Looks } from "./messages";
import { motionOf } from "./motion";
import type { Mount, Tools } from "./panel";
import { paletteOf } from "./theme";

const PREVIEW = 44; // pixels
const PREVIEW_FPS = 12;

interface Preview { looks: Looks; points: Float32Array; frames: number }
interface Row { item: Item; element: HTMLElement; canvas: HTMLCanvasElement; about: HTMLElement; badge: HTMLElement; preview: Preview | null; asked: boolean; inSight: boolean; drawn: string }

export const mountLibrary: Mount = (within, tools) => {
  const { store, api } = tools;
  const search = make("input", { class: "search", attrs: { type: "search", placeholder: "search clips", "aria-label": "search clips" }, on: { input: () => filter() } });
  const heading = make("h2", {}, "Library");
  const list = make("div", { class: "clips", attrs: { role: "list" } });
  within.append(make("div", { class: "library-head" }, heading, search), list);
  const rows = new Map<string, Row>();

  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const row = rows.get((entry.target as HTMLElement).dataset.clip ?? "");
      if (!row) continue;
      row.inSight = entry.isIntersecting;
      if (row.inSight && !row.asked) void fill(row);
    }
  }, { root: list });

  async function fill(row: Row): Promise<void> {
    row.asked = true;
    try {
      const { body, arrays } = await api.ask("library.preview", { clip: row.item.id });
      const points = arrays.points;
      row.preview = { looks: body.looks, points: points.values as Float32Array, frames: points.shape[0] };
      tell(row, body.facts);
      store.show({ facts: { ...store.scene.facts, [row.item.id]: body.facts } });
    } catch (fault) {
      row.about.textContent = fault instanceof Error ? fault.message : String(fault);
      row.badge.className = "badge bad";
    }
  }

  function tell(row: Row, facts: Facts): void {
    row.about.textContent = `${(facts.frames / facts.fps).toFixed(1)} s · ${facts.joints} joints`;
    row.badge.textContent = facts.badge;
    row.badge.className = `badge ${facts.verdict}`;
  }

  function add(item: Item): void {
    const canvas = make("canvas", { class: "preview", attrs: { width: String(2 * PREVIEW), height: String(2 * PREVIEW) } });
    const [about, badge] = [make("span", { class: "about" }), make("span", { class: "badge" })];
    const take = (slot: "a" | "b") => (event: Event) => { event.stopPropagation(); choose(tools, item.id, slot); };
    const element = make("div", { class: "clip", attrs: { role: "listitem", tabindex: "0", "data-clip": item.id }, on: {
      click: () => choose(tools, item.id, null),
      keydown: (event) => { if (event.key === "Enter") choose(tools, item.id, null); },
    } },
      canvas,
      make("div", { class: "clip-words" }, make("span", { class: "clip-name" }, item.name), about, badge),
      make("div", { class: "slots" },
        make("button", { class: "slot a", title: "use as A", attrs: { type: "button" }, on: { click: take("a") } }, "A"),
        make("button", { class: "slot b", title: "use as B", attrs: { type: "button" }, on: { click: take("b") } }, "B")));
    const row: Row = { item, element, canvas, about, badge, preview: null, asked: false, inSight: false, drawn: "" };
    rows.set(item.id, row);
    seen.observe(element);
  }

  function lay(items: Item[]): void {
    for (const item of items) if (!rows.has(item.id)) add(item);
    const groups = new Map<string, Item[]>();
    for (const item of items) groups.set(item.group, [...(groups.get(item.group) ?? []), item]);
    replace(list, ...[...groups].flatMap(([group, members]) => [
      groups.size > 1 ? make("h3", {}, group || "here") : null,
      ...members.map((item) => rows.get(item.id)!.element),
    ]));
    filter();
  }

  function filter(): void {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { item, element } of rows.values()) {
      element.hidden = !words.every((word) => item.id.toLowerCase().includes(word));
    }
  }

  store.listen((project, scene, before) => {
    if (scene.library !== before.scene.library) {
      heading.textContent = scene.library.name;
      lay(scene.library.items);
    }
    for (const [id, row] of rows) {
      row.element.classList.toggle("is-a", id === project.a);
      row.element.classList.toggle("is-b", id === project.b);
    }
  });

  const still = stillWanted();
  let last = -1;
  tools.clock.onTick(() => {
    const beat = Math.floor((performance.now() / 1000) * PREVIEW_FPS);
    if (beat === last) return;
    last = beat;
    const colour = paletteOf().ink;
    for (const row of rows.values()) {
      const frame = row.preview && !still ? beat % row.preview.frames : 0;
      if (!row.preview || !row.inSight || row.drawn === `${frame} ${colour}`) continue;
      drawPreview(row.canvas, row.preview, frame, colour);
      row.drawn = `${frame} ${colour}`;
    }
  });

  within.addEventListener("dragover", (event) => event.preventDefault());
  within.addEventListener("drop", (event) => {
    event.preventDefault();
    for (const file of event.dataTransfer?.files ?? []) void drop(file);
  });

  async function drop(file: File): Promise<void> {
    try {
      await api.upload(file);
      const { body } = await api.ask("library.list", {});
      store.show({ library: body });
    } catch (fault) {
      store.show({ fault: fault instanceof Error ? fault.message : String(fault) });
    }
  }
};

// A clip into a slot: the one named, else the first that is free, else B.
export function choose({ store }: Tools, id: string, slot: "a" | "b" | null): void {
  const { a, b, transition } = store.project;
  const into = slot ?? (a === null || (a === id && b !== null) ? "a" : "b");
  if (slot === null && (id === a || id === b)) return;
  store.decide("", { [into]: id, transition: { ...transition, at: null } });
}

// Clips that the project names are opened for the stage.
export async function openClip({ store, api }: Tools, id: string): Promise<void> {
  const { body, arrays } = await api.ask("clip.open", { clip: id, plants: store.project.plants[id] ?? null });
  store.show({ clips: { ...store.scene.clips, [id]: motionOf(body.shown, arrays) } });
}

function drawPreview(canvas: HTMLCanvasElement, preview: Preview, frame: number, colour: string): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const { looks, points } = preview;
  const from = 3 * looks.points * frame;
  const scale = (1.7 * PREVIEW) / looks.height;
  const [s, c] = [Math.sin(looks.heading - 0.9), Math.cos(looks.heading - 0.9)];
  context.clearRect(0, 0, 2 * PREVIEW, 2 * PREVIEW);
  context.strokeStyle = colour;
  context.lineCap = "round";
  const at = (p: number): [number, number] => {
    const [x, y, z] = points.subarray(from + 3 * p, from + 3 * p + 3);
    return [PREVIEW + scale * (x * c - z * s), 1.92 * PREVIEW - scale * (y - looks.floor)];
  };
  for (const part of looks.parts) {
    for (let i = 0; i + 1 < part.points.length; i++) {
      context.lineWidth = Math.max(2, scale * (part.radii[i] + part.radii[i + 1]) * 0.9);
      context.beginPath();
      context.moveTo(...at(part.points[i]));
      context.lineTo(...at(part.points[i + 1]));
      context.stroke();
    }
  }
}
