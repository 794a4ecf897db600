// The project as a file of one's own: saved by the browser, opened again with a button.

import { button, make } from "./dom";
import type { Mount } from "./panel";

const SUFFIX = ".motionloom.json";
const MOST_BYTES = 2_000_000; // as the server keeps

export const mountProjectFile: Mount = (within, { store }) => {
  const pick = make("input", { attrs: { type: "file", accept: `${SUFFIX},application/json`, "aria-label": "project file" }, on: {
    change: () => {
      const file = pick.files?.[0];
      if (file) void open(file);
      pick.value = "";
    },
  } });
  pick.hidden = true;
  within.append(button("Open", "open a project file; undo brings this one back", () => pick.click()), pick, button("Save", "save the project as a file", save));

  function save(): void {
    const address = URL.createObjectURL(new Blob([JSON.stringify(store.project, null, 1)], { type: "application/json" }));
    const { room, a, b } = store.project;
    const name = [room, a, b].filter(Boolean).join("-").replace(/[^\w.-]+/g, "_");
    const link = make("a", { attrs: { href: address, download: `${name}${SUFFIX}` } });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  async function open(file: File): Promise<void> {
    const kept = file.size <= MOST_BYTES ? readProject(await file.text()) : null;
    const known = new Set(store.scene.library.items.map(({ id }) => id));
    if (!kept) {
      store.show({ fault: `${file.name} must be a project that the studio saved.` });
      return;
    }
    const gone = [kept.a, kept.b].filter((id): id is string => typeof id === "string" && !known.has(id));
    store.open({ ...kept, a: known.has(kept.a as string) ? kept.a : null, b: known.has(kept.b as string) ? kept.b : null });
    store.show({ fault: gone.length ? `Clips that are not in this library were left out: ${gone.join(", ")}.` : null });
  }
};

function readProject(text: string): { version: 1; a?: unknown; b?: unknown } | null {
  try {
    const kept = JSON.parse(text) as { version?: unknown } | null;
    return kept && typeof kept === "object" && kept.version === 1 ? (kept as { version: 1 }) : null;
  } catch {
    return null;
  }
}
