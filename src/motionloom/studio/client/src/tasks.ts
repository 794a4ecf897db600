// Running requests, with the progress that the server reports.

import type { ProgressNotice } from "./messages";

// Answered at once, repeated all the time, or reported in another place.
const SILENT = new Set([
  "library.preview",
  "library.list",
  "project.save",
  "project.load",
  "table.state",
  "table.build",
  "export.formats",
  "stream.go",
  "stream.stop",
  "control.stop",
  "label.save",
  "cancel",
]);

const NAMES: Record<string, string> = {
  "clip.open": "Opening the clip",
  "transition.make": "Making the transition",
  "blend.make": "Making the blend",
  "blend.space": "Comparing the clips",
  "splice.make": "Making the splice",
  "render.make": "Drawing",
  "export.make": "Writing the file",
  "page.make": "Writing the page",
  "table.open": "Opening the table",
  "table.matrix": "Reading the table",
  "table.query": "Making the transition",
  "stream.start": "Starting the live character",
  "control.start": "Starting the live blend",
  "label.next": "Making the next transition",
  upload: "Reading the file",
};

export interface Task {
  readonly id: number;
  readonly name: string;
  readonly begun: number; // as performance.now()
  readonly reported: number; // when the server reported last
  readonly stage: string;
  readonly part: number | null; // 0 to 1
  readonly left_s: number | null;
  readonly expected_s: number | null; // what the last request of the kind took
  readonly cancel: (() => void) | null;
}

export class Tasks {
  private readonly running = new Map<number, Task>();
  private readonly took = new Map<string, number>(); // seconds, by type

  constructor(private readonly changed: (tasks: Task[]) => void) {}

  begin(id: number, type: string, cancel: (() => void) | null): void {
    if (SILENT.has(type)) return;
    const now = performance.now();
    this.running.set(id, {
      id,
      name: NAMES[type] ?? "Working",
      begun: now,
      reported: now,
      stage: "",
      part: null,
      left_s: null,
      expected_s: this.took.get(type) ?? null,
      cancel,
    });
    this.notify();
  }

  report(id: number, { stage, part, left_s }: ProgressNotice): void {
    const task = this.running.get(id);
    if (!task) return;
    this.running.set(id, {
      ...task,
      stage,
      part,
      left_s,
      reported: performance.now(),
    });
    this.notify();
  }

  end(id: number, type: string): void {
    const task = this.running.get(id);
    if (!task) return;
    this.took.set(type, (performance.now() - task.begun) / 1000);
    this.running.delete(id);
    this.notify();
  }

  private notify(): void {
    this.changed([...this.running.values()]);
  }
}
