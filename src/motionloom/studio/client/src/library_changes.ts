// A new list of the library: removed clips leave the project, changed clips are
// opened again.

import type { Item } from "./messages";
import type { Store } from "./store";
import { clipsOf } from "./tabs/blend";

export function takeLibrary(store: Store, { name, items }: { name: string; items: Item[] }, changed: string[]): void {
  const { scene, project } = store;
  const ids = new Set(items.map(({ id }) => id));
  const used = clipsOf(project);
  const stale = changed.filter((id) => id in scene.clips || used.includes(id));
  const current = (list: Record<string, unknown>): [string, unknown][] =>
    Object.entries(list).filter(([id]) => ids.has(id) && !changed.includes(id));
  store.show({
    library: { name, items, changed },
    facts: Object.fromEntries(current(scene.facts)) as typeof scene.facts,
    clips: Object.fromEntries(current(scene.clips)) as typeof scene.clips,
    revision: scene.revision + (stale.length ? 1 : 0),
  });
  const gone = used.filter((id) => !ids.has(id));
  if (!gone.length) {
    store.clear("gone");
    return;
  }
  const listed = (id: string | null): string | null => (id !== null && ids.has(id) ? id : null);
  store.commit("", {
    a: listed(project.a),
    b: listed(project.b),
    blend: {
      ...project.blend,
      clips: project.blend.clips.filter((id) => ids.has(id)),
      weights: [],
      parameters: null,
      recorded: null,
    },
  });
  store.fail(
    "gone",
    `${gone.join(", ")} ${gone.length > 1 ? "were" : "was"} deleted from the folder. Pick another clip; undo works when the file is back.`,
  );
}
