// The page's state in one place. The project is what the user chose: it is saved, undone and put into
// links. The scene is what follows from it (motions, results, messages): it is not saved.

import { type Fault, Gone, textOf } from "./faults";
import type {
  Facts,
  Item,
  Maker,
  Method,
  Place,
  PlantSpans,
  RatingCounts,
  ResultAnswer,
  Space,
  Span,
  TableReport,
} from "./messages";
import type { ShownMotion } from "./motion";
import type { Connection } from "./socket";
import type { ViewName } from "./stage/camera";
import { ALL_ON, type Switches } from "./stage/layer";
import type { Task } from "./tasks";
import type { Arrays } from "./wire";

export type Tab = "transition" | "blend" | "splice" | "table";

export interface Project {
  version: 1;
  tab: Tab;
  a: string | null;
  b: string | null;
  clean: boolean;
  plants: Record<string, PlantSpans>; // set by hand, by clip
  transition: { at: Span | null; length_s: number; moving: boolean; timewarp: boolean };
  blend: {
    clips: string[]; // beyond A and B
    weights: number[];
    parameters: Record<string, number> | null; // in place of weights
    recorded: number[][] | null; // in place of both: weights of a live blend
    cycles: boolean; // clips are cut to gait cycles first
    sync_contacts: boolean; // times are drawn to contacts that all clips share
  };
  splice: {
    method: Method;
    where: string;
    when_short: "crop" | "loop" | "hold";
    soft: boolean;
    align: boolean;
    keep_bend: boolean;
    compare: boolean;
  };
  table: {
    mode: "make" | "live" | "label";
    from: number | null; // frame of A to leave, as the table counts
    to: number | null; // frame of B to arrive at
    label: string | null; // in place of B
    by: Maker;
    search: boolean;
    variation: number | null;
    lead_s: number;
    follow_s: number;
    rater: string;
  };
  view: { overlaid: boolean; camera: ViewName; follow: boolean; theme: "auto" | "light" | "dark"; layers: Switches };
}

export interface TabResult {
  key: string; // of the settings that it depends on
  answer: ResultAnswer;
  arrays: Arrays;
  motion: ShownMotion;
  sources: ShownMotion[];
  // Frame of every source at every frame of the result; nan where it has none. (F, K)
  sourceFrames: Float32Array;
}

export interface TableScene {
  report: TableReport | null; // null before the first request
  matrix: TableMatrixData | null;
  opened: number; // rises with every opened table: results of the one before are out of date
  rated: number; // transitions rated on this visit: the next one is requested when it rises
  counts: RatingCounts | null; // after the last rating
  lastRated: TabResult | null;
  character: LiveCharacter | null;
}

export interface TableMatrixData {
  places: Place[];
  costs: Float32Array;
  natural: Float32Array | null;
}

export interface LiveCharacter {
  live: number | null; // null until the server has started it
  goal: string;
}

export interface LiveBlend {
  clips: string[];
  recording: boolean;
  seconds: number; // recorded so far
  latency: number; // milliseconds of the last pose, there and back
}

export interface Scene {
  library: { name: string; items: Item[]; changed?: string[] }; // ids of clips whose files changed
  revision: number; // rises when the file of a used clip changes: its results are computed again
  facts: Record<string, Facts>;
  clips: Record<string, ShownMotion>; // opened, by id
  results: Partial<Record<Tab, TabResult>>; // the last result of every tab
  space: { key: string; value: Space | null }; // what the clips of the blend can be steered by
  table: TableScene;
  live: ShownMotion | null; // one frame, overwritten while it plays
  liveBlend: LiveBlend | null;
  busy: string | null;
  faults: Fault[];
  connected: boolean;
  connection: Connection;
  command: string | null; // starts this server again
  tasks: Task[];
}

// How the clips of a blend are brought together.
export function registeredBy({ blend }: Project): { cycles: boolean; sync_contacts: boolean } {
  return { cycles: blend.cycles, sync_contacts: blend.sync_contacts };
}

export const MOST_UNDO = 200; // steps

export const FIRST: Project = {
  version: 1,
  tab: "transition",
  a: null,
  b: null,
  clean: true,
  plants: {},
  transition: { at: null, length_s: 0.6, moving: false, timewarp: true },
  blend: { clips: [], weights: [], parameters: null, recorded: null, cycles: false, sync_contacts: false },
  splice: {
    method: "full",
    where: "torso",
    when_short: "crop",
    align: false,
    soft: false,
    keep_bend: false,
    compare: false,
  },
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

export type State = Pick<Store, "project" | "scene">;

type Listener = (project: Project, scene: Scene, before: { project: Project; scene: Scene }) => void;

export class Store {
  project: Project = FIRST;
  scene: Scene = {
    library: { name: "", items: [] },
    revision: 0,
    facts: {},
    clips: {},
    results: {},
    space: { key: "", value: null },
    table: { report: null, matrix: null, opened: 0, rated: 0, counts: null, lastRated: null, character: null },
    live: null,
    liveBlend: null,
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

  // A change that one undo takes back. Consecutive changes with the same key (a drag) are one step.
  commit(key: string, change: Partial<Project>): void {
    const last = this.past.at(-1);
    if (!key || !last || last.key !== key) this.remember(key);
    this.future = [];
    this.replace({ ...this.project, ...change });
  }

  // The end of a drag: the next change with the same key is a new step.
  endDrag(): void {
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
    const next = this.future.pop();
    if (!next) return;
    this.remember("");
    this.replace(next);
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

  // A project that the user opens: as `load`, and it can be undone.
  open(project: Project): void {
    this.remember("");
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

  // Remove errors by their causes; a cause that ends with ":" stands for all that begin with it.
  clear(...causes: string[]): void {
    const gone = (cause: string): boolean =>
      causes.some((each) => (each.endsWith(":") ? cause.startsWith(each) : cause === each));
    if (this.scene.faults.some(({ cause }) => gone(cause)))
      this.show({ faults: this.scene.faults.filter(({ cause }) => !gone(cause)) });
  }

  show(change: Partial<Scene>): void {
    const before = { project: this.project, scene: this.scene };
    this.scene = { ...this.scene, ...change };
    this.notify(before);
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  // The present project becomes a step of undo; the oldest beyond the limit are dropped.
  private remember(key: string): void {
    this.past.push({ project: this.project, key });
    if (this.past.length > MOST_UNDO) this.past.shift();
  }

  private replace(project: Project): void {
    const before = { project: this.project, scene: this.scene };
    this.project = project;
    this.notify(before);
  }

  private notify(before: { project: Project; scene: Scene }): void {
    for (const listener of this.listeners) listener(this.project, this.scene, before);
  }
}

// A clip's name as the library shows it.
export function nameOf({ scene }: Store, id: string): string {
  return scene.library.items.find((item) => item.id === id)?.name ?? id;
}

// The result of the open tab, if it has one.
export function currentResult(store: Store): TabResult | null {
  return store.scene.results[store.project.tab] ?? null;
}
