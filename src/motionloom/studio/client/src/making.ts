// Results follow the project: whenever what a room's result depends on changes, it is made again.

import { openClip } from "./library";
import { motionOf } from "./motion";
import type { Tools } from "./panel";
import { blend } from "./rooms/blend";
import type { RoomModule } from "./rooms/room";
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

  // One at a time; what changed meanwhile is made after, so that a drag never queues up.
  async function remake(): Promise<void> {
    if (running) return;
    const { project } = store;
    const room = ROOMS.find((each) => each.name === project.room)!;
    const key = JSON.stringify(room.inputs(project));
    if (room.missing(project) !== null) {
      if (store.scene.made[room.name]) store.show({ made: { ...store.scene.made, [room.name]: undefined } });
      last[room.name] = "";
      return;
    }
    if (last[room.name] === key) return;
    last[room.name] = key;
    running = true;
    store.show({ busy: "making the result ...", fault: null });
    try {
      // Sources that the page has already are not sent again: a drag brings only what it changed.
      const old = store.scene.made[room.name];
      const held = new Map(old?.answer.sources.map(({ key }, k) => [key, old.sources[k]]));
      const { body, arrays } = await room.ask(project, api, [...held.keys()]);
      const made = {
        answer: body, arrays, motion: motionOf(body.shown, arrays),
        sources: body.sources.map((source, k) => (source.shown ? motionOf(source.shown, arrays, `${k}.`) : held.get(source.key)!)),
        sourceFrames: arrays.source_frames.values as Float32Array,
      };
      store.show({ made: { ...store.scene.made, [room.name]: made }, busy: null });
    } catch (fault) {
      const text = fault instanceof Error ? fault.message : String(fault);
      store.show({ busy: null, fault: text, made: { ...store.scene.made, [room.name]: undefined } });
    } finally {
      running = false;
      void remake();
    }
  }

  function open(): void {
    for (const id of [store.project.a, store.project.b]) {
      if (!id || asked.has(id)) continue;
      asked.add(id);
      openClip(tools, id).catch((fault: unknown) => {
        asked.delete(id);
        store.show({ fault: fault instanceof Error ? fault.message : String(fault) });
      });
    }
  }

  store.listen((project, scene, before) => {
    // Results are kept with the socket that they were asked on: after another one each room's is made again.
    const back = scene.connected && !before.scene.connected;
    if (back) for (const { name } of ROOMS) last[name] = "";
    if (project === before.project && !back) return;
    open();
    void remake();
  });
  return { remake: () => void remake() };
}
