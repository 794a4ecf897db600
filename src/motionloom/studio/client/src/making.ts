// Results follow the project: a result is made again whenever a setting that it depends on changes.

import { Cancelled } from "./faults";
import { openClip } from "./library";
import { motionOf } from "./motion";
import type { Tools } from "./panel";
import { blend, clipsOf } from "./rooms/blend";
import { keyOf, type RoomModule } from "./rooms/room";
import { splice } from "./rooms/splice";
import { table } from "./rooms/table";
import { transition } from "./rooms/transition";
import type { Room } from "./store";

export const ROOMS: RoomModule[] = [transition, blend, splice, table];

export function followProject(tools: Tools): { remake(): void } {
  const { store, api } = tools;
  const last: Partial<Record<Room, string>> = {};
  let running = false;
  const asked = new Set<string>();

  // One at a time: changes during a request are made after it, so that a drag never queues up.
  async function remake(): Promise<void> {
    if (running) return;
    const { project } = store;
    const room = ROOMS.find((each) => each.name === project.room)!;
    const key = keyOf(room, store);
    const cause = `result:${room.name}`;
    if (room.missing(project) !== null) {
      store.heal(cause);
      if (store.scene.made[room.name]) store.show({ made: { ...store.scene.made, [room.name]: undefined } });
      last[room.name] = "";
      return;
    }
    if (last[room.name] === key) return;
    last[room.name] = key;
    running = true;
    store.show({ busy: "making the result ..." });
    try {
      // Sources that the page has already are not sent again: a drag brings only what it changed.
      const old = store.scene.made[room.name];
      const held = new Map(old?.answer.sources.map(({ key }, k) => [key, old.sources[k]]));
      const { body, arrays } = await room.ask(project, api, [...held.keys()]);
      const made = {
        key,
        answer: body,
        arrays,
        motion: motionOf(body.shown, arrays),
        sources: body.sources.map((source, k) =>
          source.shown ? motionOf(source.shown, arrays, `${k}.`) : held.get(source.key)!,
        ),
        sourceFrames: arrays.source_frames.values as Float32Array,
      };
      store.show({ made: { ...store.scene.made, [room.name]: made }, busy: null });
      store.heal(cause, "export");
    } catch (error) {
      // After a cancel the earlier result stays; a result that failed has none to show.
      const cancelled = error instanceof Cancelled;
      store.show({ busy: null, made: cancelled ? store.scene.made : { ...store.scene.made, [room.name]: undefined } });
      store.fail(
        cause,
        cancelled ? "Cancelled." : error,
        cancelled
          ? {
              text: "Make it again",
              press: () => {
                last[room.name] = "";
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
    const wanted = project.room === "blend" ? clipsOf(project) : [project.a, project.b];
    for (const { cause } of scene.faults) {
      if (cause.startsWith("clip:") && !wanted.includes(cause.slice(5))) store.heal(cause);
    }
    for (const id of wanted) {
      if (!id || asked.has(id)) continue;
      asked.add(id);
      openClip(tools, id)
        .then(() => store.heal(`clip:${id}`))
        .catch((error: unknown) => {
          asked.delete(id);
          store.fail(`clip:${id}`, error);
        });
    }
  }

  store.listen((project, scene, before) => {
    // The server keeps results per socket: after a reconnect each one is made again.
    const back = scene.connected && !before.scene.connected;
    if (back) for (const { name } of ROOMS) last[name] = "";
    const changed = scene.revision !== before.scene.revision;
    if (changed) asked.clear();
    if (project === before.project && !back && !changed) return;
    open();
    void remake();
  });
  return { remake: () => void remake() };
}
