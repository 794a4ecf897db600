// The tables of the server: questions about the open one, and requests that change which one is open.

import { Cancelled } from "../../faults";
import type { TableClip, TableFacts, TableReport } from "../../messages";
import type { State, TableScene } from "../../store";
import type { Tools } from "../../tools";

const POLL_MS = 400;

export function factsOf({ scene }: State): TableFacts | null {
  return scene.table.report?.table ?? null;
}

// The table's clip of a clip of the library.
export function clipIn(state: State, id: string | null): TableClip | null {
  return factsOf(state)?.clips.find((each) => each.clip === id) ?? null;
}

// Frames of a window of the table; a shorter clip has no window in it.
export function windowOf(state: State): number {
  return factsOf(state)?.length ?? 0;
}

// Whether a clip of the library is in the table and shorter than its window.
export function isShort(state: State, id: string | null): boolean {
  const clip = clipIn(state, id);
  return clip !== null && clip.frames < windowOf(state);
}

// Goals are labels or clips of the table, by their names.
export function isShortGoal(state: State, goal: string): boolean {
  return factsOf(state)?.clips.some(({ id, frames }) => id === goal && frames < windowOf(state)) ?? false;
}

// What a result depends on besides the project.
export function tableKey(state: State): unknown {
  const { opened, rated } = state.scene.table;
  return [opened, factsOf(state)?.id ?? null, rated];
}

export function changeTable({ store }: Pick<Tools, "store">, part: Partial<TableScene>): void {
  store.show({ table: { ...store.scene.table, ...part } });
}

export interface Tables {
  // Ask for the state, once for every connection.
  begin(): void;
  build(clusters: number | null, lengthS: number): void;
  cancel(): void;
  open(table: string): void;
}

export function createTables(tools: Tools): Tables {
  const { store, api } = tools;
  let requested = false;
  store.listen((project, scene, before) => {
    if (!scene.connected || before.scene.connected || !requested) return;
    requested = false;
    if (project.tab === "table") begin();
  });

  function begin(): void {
    if (requested) return;
    requested = true;
    void take(api.ask("table.state", {}));
  }

  function open(table: string): void {
    const { report } = store.scene.table;
    if (report) changeTable(tools, { report: { ...report, table: null } });
    void take(api.ask("table.open", { table }));
  }

  async function take(request: Promise<{ body: TableReport }>): Promise<void> {
    try {
      const { body } = await request;
      const isNew = body.table !== null && factsOf(store) === null;
      const part = isNew ? await readMatrix() : body.table ? {} : { matrix: null };
      changeTable(tools, { report: body, ...part });
      const running = body.job?.state === "running";
      if (!body.table && !running && body.tables.length) open(body.tables[0]);
      if (running) setTimeout(() => void take(api.ask("table.state", {})), POLL_MS);
      store.clear("table");
    } catch (error) {
      if (!(error instanceof Cancelled)) store.fail("table", error);
    }
  }

  async function readMatrix(): Promise<Partial<TableScene>> {
    const { body, arrays } = await api.ask("table.matrix", {});
    const natural = (arrays.natural?.values as Float32Array | undefined) ?? null;
    const matrix = { places: body.places, costs: arrays.costs.values as Float32Array, natural };
    return { matrix, opened: store.scene.table.opened + 1 };
  }

  return {
    begin,
    build: (clusters, length_s) => void take(api.ask("table.build", { clusters, length_s })),
    cancel: () => void take(api.ask("table.cancel", {})),
    open,
  };
}
