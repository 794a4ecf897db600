// Results follow the project: a result is requested again when a setting that it depends on changes.

import { Cancelled } from "./faults";
import { openClip } from "./library";
import { motionOf } from "./motion";
import type { Tab } from "./store";
import { blend, clipsOf } from "./tabs/blend";
import { splice } from "./tabs/splice";
import { keyOf, type TabModule } from "./tabs/tab";
import { table } from "./tabs/table";
import { transition } from "./tabs/transition";
import type { Tools } from "./tools";

export const TABS: TabModule[] = [transition, blend, splice, table];

export function followProject(tools: Tools): void {
  const { store, api } = tools;
  const last: Partial<Record<Tab, string>> = {};
  let running = false;
  const opened = new Set<string>();

  // One at a time: changes during a request are handled after it, so that a drag never queues up.
  async function remake(): Promise<void> {
    if (running) return;
    const { project } = store;
    const tab = TABS.find((each) => each.name === project.tab)!;
    const key = keyOf(tab, store);
    const cause = `result:${tab.name}`;
    if (tab.missing(store) !== null) {
      store.clear(cause);
      if (store.scene.results[tab.name]) store.show({ results: { ...store.scene.results, [tab.name]: undefined } });
      last[tab.name] = "";
      return;
    }
    if (last[tab.name] === key) return;
    last[tab.name] = key;
    running = true;
    store.show({ busy: "making the result ..." });
    try {
      // The server does not send sources again that the page has.
      const old = store.scene.results[tab.name];
      const held = new Map(old?.answer.sources.map(({ key }, k) => [key, old.sources[k]]));
      const { body, arrays } = await tab.ask(store, api, [...held.keys()]);
      const result = {
        key,
        answer: body,
        arrays,
        motion: motionOf(body.shown, arrays),
        sources: body.sources.map((source, k) =>
          source.shown ? motionOf(source.shown, arrays, `${k}.`) : held.get(source.key)!,
        ),
        sourceFrames: arrays.source_frames.values as Float32Array,
      };
      store.show({ results: { ...store.scene.results, [tab.name]: result }, busy: null });
      store.clear(cause, "export");
    } catch (error) {
      // After a cancel the earlier result stays; after an error there is none.
      const cancelled = error instanceof Cancelled;
      const results = cancelled ? store.scene.results : { ...store.scene.results, [tab.name]: undefined };
      store.show({ busy: null, results });
      store.fail(
        cause,
        cancelled ? "Cancelled." : error,
        cancelled
          ? {
              text: "Make it again",
              press: () => {
                last[tab.name] = "";
                void remake();
              },
            }
          : undefined,
      );
    } finally {
      running = false;
      void remake();
    }
  }

  function open(): void {
    const { project, scene } = store;
    const wanted = project.tab === "blend" ? clipsOf(project) : [project.a, project.b];
    for (const { cause } of scene.faults) {
      if (cause.startsWith("clip:") && !wanted.includes(cause.slice(5))) store.clear(cause);
    }
    for (const id of wanted) {
      if (!id || opened.has(id)) continue;
      opened.add(id);
      openClip(tools, id)
        .then(() => store.clear(`clip:${id}`))
        .catch((error: unknown) => {
          opened.delete(id);
          store.fail(`clip:${id}`, error);
        });
    }
  }

  store.listen((project, scene, before) => {
    // The server stores results per socket: after a reconnect each one is requested again.
    const back = scene.connected && !before.scene.connected;
    if (back) for (const { name } of TABS) last[name] = "";
    const changed = scene.revision !== before.scene.revision;
    if (changed) opened.clear();
    const table = scene.table !== before.scene.table;
    if (project === before.project && !back && !changed && !table) return;
    open();
    void remake();
  });
}
