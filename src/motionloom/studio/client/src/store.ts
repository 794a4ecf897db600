// The page's state in one place. The project is what the user decided: it is saved, undone and put
// into links. The scene is what follows from it (motions, results, the playhead): it is not.

import { type Fault, Gone, textOf } from "./faults";
import type { Arrays, Facts, Item, Method, PlantSpans, ResultAnswer, Span } from "./messages";
import type { ShownMotion } from "./motion";
import type { Connection } from "./socket";
import { ALL_ON, type Switches } from "./stage/layer";
import type { By } from "./table_messages";
import type { Task } from "./tasks";

export type Room = "transition" | "blend" | "splice" | "table";

export interface Project {
  version: 1;
  room: Room;
  a: string | null;
  b: string | null;
  clean: boolean;
  plants: Record<string, PlantSpans>; // set by hand, by clip
  transition: { at: Span | null; length_s: number; moving: boolean; timewarp: boolean };
  blend: {
    clips: string[]; // beyond A and B
    weights: number[];
    parameters: Record<string, number> | null; // in place of weights
    recorded: number[][] | null; // in place of both: what a hand did while it steered
  };
  splice: {
    method: Method;
    where: string;
    when_short: "crop" | "loop" | "hold";
    soft: boolean;
    keep_bend: boolean;
    compare: boolean;
  };
  table: {
    mode: "make" | "live" | "label";
    from: number | null; // frame of A to leave, as the table counts
    to: number | null; // frame of B to arrive at
    label: string | null; // in place of B
    by: By;
    search: boolean;
    variation: number | null;
    lead_s: number;
    follow_s: number;
    rater: string;
  };
  view: { overlaid: boolean; camera: string; follow: boolean; theme: "auto" | "light" | "dark"; layers: Switches };
}

export interface Made {
  key: string; // of the settings that it was made with
  answer: ResultAnswer;
  arrays: Arrays;
  motion: ShownMotion;
  sources: ShownMotion[];
  // Frame of every source at every frame of the result; nan where it has none. (F, K)
  sourceFrames: Float32Array;
}

export interface Scene {
  library: { name: string; items: Item[]; changed?: string[] }; // ids of clips whose files changed
  revision: number; // rises when a file of a used clip changes: results of it are made again
  facts: Record<string, Facts>;
  clips: Record<string, ShownMotion>; // opened, by id
  made: Partial<Record<Room, Made>>; // the last result of every room
  live: ShownMotion | null; // one frame, overwritten as a hand steers it
  busy: string | null;
  faults: Fault[];
  connected: boolean;
  connection: Connection;
  command: string | null; // starts this server again
  tasks: Task[];
}

export const FIRST: Project = {
  version: 1,
  room: "transition",
  a: null,
  b: null,
  clean: true,
  plants: {},
  transition: { at: null, length_s: 0.6, moving: false, timewarp: true },
  blend: { clips: [], weights: [], parameters: null, recorded: null },
  splice: { method: "full", where: "torso", when_short: "crop", soft: false, keep_bend: false, compare: false },
  table: {
    mode: "make",
    from: null,
    to: null,
    label: null,
    by: "table",
    search: false,
    variation: null,
    lead_s: 0.5,
    follow_s: 0.5,
    rater: "",
  },
  view: { overlaid: false, camera: "three-quarter", follow: true, theme: "auto", layers: ALL_ON },
};

type Listener = (project: Project, scene: Scene, before: { project: Project; scene: Scene }) => void;

export class Store {
  project: Project = FIRST;
  scene: Scene = {
    library: { name: "", items: [] },
    revision: 0,
    facts: {},
    clips: {},
    made: {},
    live: null,
    busy: null,
    faults: [],
    connected: false,
    connection: { state: "connecting", retryAt: null },
    command: null,
    tasks: [],
  };
  private past: { project: Project; key: string }[] = [];
  private future: Project[] = [];
  private listeners = new Set<Listener>();

  // A decision: undone in one step. Decisions in a row with the same key (a drag) are one.
  decide(key: string, change: Partial<Project>): void {
    const last = this.past.at(-1);
    if (!key || !last || last.key !== key) this.past.push({ project: this.project, key });
    this.future = [];
    this.replace({ ...this.project, ...change });
  }

  // The hand let go: the next decision of the same kind is a new step.
  settle(): void {
    const last = this.past.at(-1);
    if (last) last.key = "";
  }

  undo(): void {
    const back = this.past.pop();
    if (!back) return;
    this.future.push(this.project);
    this.replace(back.project);
  }

  redo(): void {
    const on = this.future.pop();
    if (!on) return;
    this.past.push({ project: this.project, key: "" });
    this.replace(on);
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }

  // A project from the last visit or from a link.
  load(project: Project): void {
    this.replace(project);
  }

  // A project opened by hand: as `load`, and it can be undone.
  open(project: Project): void {
    this.past.push({ project: this.project, key: "" });
    this.future = [];
    this.load(project);
  }

  // Show an error until its cause is gone or the user closes it.
  fail(cause: string, error: unknown, action?: Fault["action"]): void {
    if (error instanceof Gone) return;
    this.show({
      faults: [...this.scene.faults.filter((each) => each.cause !== cause), { cause, text: textOf(error), action }],
    });
  }

  // The cause is gone; a cause that ends with ":" stands for all that begin with it.
  heal(...causes: string[]): void {
    const gone = (cause: string): boolean =>
      causes.some((each) => (each.endsWith(":") ? cause.startsWith(each) : cause === each));
    if (this.scene.faults.some(({ cause }) => gone(cause)))
      this.show({ faults: this.scene.faults.filter(({ cause }) => !gone(cause)) });
  }

  show(change: Partial<Scene>): void {
    const before = { project: this.project, scene: this.scene };
    this.scene = { ...this.scene, ...change };
    this.tell(before);
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private replace(project: Project): void {
    const before = { project: this.project, scene: this.scene };
    this.project = project;
    this.tell(before);
  }

  private tell(before: { project: Project; scene: Scene }): void {
    for (const listener of this.listeners) listener(this.project, this.scene, before);
  }
}

// A clip's name as the library shows it.
export function nameOf({ scene }: Store, id: string): string {
  return scene.library.items.find((item) => item.id === id)?.name ?? id;
}

// The result that the room in front shows, if it has one.
export function madeNow(store: Store): Made | null {
  return store.scene.made[store.project.room] ?? null;
}
