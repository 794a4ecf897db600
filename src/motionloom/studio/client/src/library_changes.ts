// A new list of the library: clips that went are taken out of the project, clips that changed are
// opened again.

import type { Item } from "./messages";
import { clipsOf } from "./rooms/blend";
import type { Store } from "./store";

export function takeLibrary(store: Store, { name, items }: { name: string; items: Item[] }, changed: string[]): void {
  const { scene, project } = store;
  const known = new Set(items.map(({ id }) => id));
  const used = clipsOf(project);
  const stale = changed.filter((id) => id in scene.clips || used.includes(id));
  const kept = (list: Record<string, unknown>): [string, unknown][] =>
    Object.entries(list).filter(([id]) => known.has(id) && !changed.includes(id));
  store.show({
    library: { name, items, changed },
    facts: Object.fromEntries(kept(scene.facts)) as typeof scene.facts,
    clips: Object.fromEntries(kept(scene.clips)) as typeof scene.clips,
    revision: scene.revision + (stale.length ? 1 : 0),
  });
  const gone = used.filter((id) => !known.has(id));
  if (!gone.length) {
    store.heal("gone");
    return;
  }
  const there = (id: string | null): string | null => (id !== null && known.has(id) ? id : null);
  store.decide("", {
    a: there(project.a),
    b: there(project.b),
    blend: { clips: project.blend.clips.filter((id) => known.has(id)), weights: [], parameters: null, recorded: null },
  });
  store.fail(
    "gone",
    `${gone.join(", ")} ${gone.length > 1 ? "were" : "was"} deleted from the folder. Pick another clip; undo works once the file is there again.`,
  );
}
