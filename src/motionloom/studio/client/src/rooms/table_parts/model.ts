// What the server knows of tables: the open one, its matrix, the build under way.

import { Cancelled } from "../../faults";
import type { Arrays } from "../../messages";
import type { Tools } from "../../panel";
import type { Job, Place, TableClip, TableFacts, TableState } from "../../table_messages";

const POLL_MS = 400;

export interface Matrix {
  places: Place[];
  costs: Float32Array;
  natural: Float32Array | null;
}

export class TableModel {
  facts: TableFacts | null = null;
  tables: string[] = [];
  job: Job | null = null;
  matrix: Matrix | null = null;
  turn = 0; // transitions judged on this visit: the next one is asked for when it rises
  private asked = false;
  private opened = 0; // rises with every table: results of the one before do not hold
  private readonly listeners = new Set<() => void>();

  constructor(private readonly tools: Tools) {
    tools.store.listen((project, scene, before) => {
      if (!scene.connected || before.scene.connected || !this.asked) return;
      this.asked = false;
      if (project.room === "table") this.begin();
    });
  }

  // What a result depends on, next to the project.
  get key(): unknown {
    return [this.opened, this.facts?.id ?? null, this.turn];
  }

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  // Frames of a window of the table; a clip with fewer has no place in it.
  get window(): number {
    return this.facts?.length ?? 0;
  }

  // Whether a clip of the library is in the table and shorter than its window.
  isShort(id: string | null): boolean {
    const clip = this.clipOf(id);
    return clip !== null && clip.frames < this.window;
  }

  // Goals are labels and clips of the table, by their names.
  isShortGoal(goal: string): boolean {
    return this.facts?.clips.some(({ id, frames }) => id === goal && frames < this.window) ?? false;
  }

  // Asked for once, when the tab is first shown, and again after a reconnect.
  begin(): void {
    if (this.asked) return;
    this.asked = true;
    void this.tell(this.tools.api.ask("table.state", {}));
  }

  build(clusters: number, lengthS: number): void {
    void this.tell(this.tools.api.ask("table.build", { clusters, length_s: lengthS }));
  }

  cancel(): void {
    void this.tell(this.tools.api.ask("table.cancel", {}));
  }

  open(table: string): void {
    this.facts = null;
    void this.tell(this.tools.api.ask("table.open", { table }));
  }

  next(): void {
    this.turn++;
    this.changed();
  }

  // The table's clip of a clip of the library.
  clipOf(id: string | null): TableClip | null {
    return this.facts?.clips.find((each) => each.clip === id) ?? null;
  }

  private async tell(asked: Promise<{ body: TableState; arrays: Arrays }>): Promise<void> {
    try {
      const { body } = await asked;
      const was = this.facts;
      this.tables = body.tables;
      this.job = body.job;
      this.facts = body.table;
      const running = body.job?.state === "running";
      if (body.table && !was) await this.look();
      if (!body.table) this.matrix = null;
      this.changed();
      if (!body.table && !running && body.tables.length) this.open(body.tables[0]);
      if (running) setTimeout(() => void this.tell(this.tools.api.ask("table.state", {})), POLL_MS);
      this.tools.store.heal("table");
    } catch (error) {
      if (!(error instanceof Cancelled)) this.tools.store.fail("table", error);
    }
  }

  private async look(): Promise<void> {
    const { body, arrays } = await this.tools.api.ask("table.matrix", {});
    this.opened++;
    this.matrix = {
      places: body.places,
      costs: arrays.costs.values as Float32Array,
      natural: (arrays.natural?.values as Float32Array | undefined) ?? null,
    };
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
    this.tools.store.show({});
    this.tools.remake();
  }
}
