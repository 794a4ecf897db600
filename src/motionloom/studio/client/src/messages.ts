// Every message between page and server: the same as studio/messages/messages.py and studio/messages/answers.py say.

import type { TableAnswers, TableDetail, TableRequests } from "./table_messages";

export type Verdict = "good" | "fair" | "bad" | "plain";
export type Span = [number, number];
export type Method = "naive" | "time" | "time+space" | "full";
export type PlantSpans = Record<string, Span[]>;

export interface Requests extends TableRequests {
  "library.list": Record<never, never>;
  "library.preview": { clip: string };
  "clip.open": { clip: string; plants?: PlantSpans | null };
  "transition.make": {
    a: string;
    b: string;
    at?: Span | null;
    length_s?: number;
    moving?: boolean;
    timewarp?: boolean;
    clean?: boolean;
    plants?: Record<string, PlantSpans>;
    have?: string[];
  };
  "blend.make": {
    clips: string[];
    weights?: number[];
    parameters?: Record<string, number>;
    recorded?: number[][];
    clean?: boolean;
    have?: string[];
  };
  "blend.space": { clips: string[] };
  "control.start": { clips: string[]; loop?: boolean };
  "control.stop": { live: number };
  "splice.make": {
    upper: string;
    lower: string;
    method?: Method;
    where?: string;
    when_short?: "crop" | "loop" | "hold";
    soft?: boolean;
    keep_bend?: boolean;
    compare?: boolean;
    have?: string[];
  };
  "render.make": { result: number; kind?: Picture; view?: string };
  "export.make": { what: string; format: string; preset?: string | null };
  "export.formats": Record<never, never>;
  "page.make": { result: number };
  "project.save": { project: unknown };
  "project.load": Record<never, never>;
  cancel: { request: number };
}

export interface Answers extends TableAnswers {
  "library.list": { name: string; items: Item[]; command?: string };
  "library.preview": { facts: Facts; looks: Looks };
  "clip.open": { clip: string; shown: Shown; findings: Finding[]; facts: Facts };
  "transition.make": ResultAnswer;
  "blend.make": ResultAnswer;
  "blend.space": { names: string[]; ranges: Span[]; values: number[][] };
  "control.start": { live: number; fps: number; looks: Looks };
  "control.stop": { recorded: number[][] };
  "splice.make": ResultAnswer;
  "render.make": { url: string; name: string; bytes: number };
  "export.make": { url: string; name: string; bytes: number };
  "page.make": { url: string; name: string; bytes: number };
  "export.formats": { formats: Format[]; presets: Preset[]; pictures?: PictureKind[] };
  "project.save": Record<never, never>;
  "project.load": { project: unknown; problem?: string | null };
  cancel: { stopped?: boolean };
}

// Unasked: files appeared, changed or went.
export interface Pushed {
  type: "library.changed"; name: string; items: Item[]; changed: string[]; added?: string[]; removed?: string[];
}

export type Picture = "png" | "svg" | "gif" | "mp4";
export interface PictureKind { kind: Picture; available: boolean; reason: string; install: string }
// Where a live blend is steered to: by weights or by parameters, one of them.
export interface Steer { weights?: number[]; parameters?: Record<string, number> }
export interface Item { id: string; name: string; group: string }
export interface Facts {
  clip: string; frames: number; fps: number; joints: number; skeleton: string; label: string;
  verdict: Verdict; badge: string;
}
export interface Finding { level: "note" | "warning" | "error"; where: string; problem: string; fix: string }
export interface Part { name: string; side: "left" | "middle" | "right"; points: number[]; radii: number[] }
export interface Looks {
  points: number; root: number; parts: Part[]; height: number; floor: number; heading: number; joints: string[];
}
export interface Print {
  kind: string; first: number; last: number; place: [number, number, number]; heading: number; slides: boolean;
}
export interface Shown { name: string; frames: number; fps: number; looks: Looks; prints: Print[] }
export interface WhyRow {
  label: string; value: number | null; unit: string; verdict: Verdict; before: number | null; about: string;
  limits: [number, number] | null; frame: number | null;
}
export interface Why {
  verdict: Verdict; headline: string; rows: WhyRow[]; warnings: string[]; notes: string[];
  command: string; python: string;
}
export interface Candidate {
  frame_a: number; frame_b: number; cost: number; pose: number; feet: number; both_moving: boolean;
}
export interface TransitionDetail {
  room: "transition"; span: Span; at: Span; candidates: Candidate[]; stride: number;
  // Older servers leave these out.
  best?: Span | null; by_hand?: boolean; length_s?: number; grid_range?: [number, number];
}
export interface BlendDetail {
  room: "blend"; weights: number[]; recorded: number; parameters?: Record<string, number> | null;
}
export interface MethodFigures { method: Method; lean_lost_deg: number; sway: number; step: number }
export interface SpliceDetail { room: "splice"; method: Method; where: string; methods: MethodFigures[] }
export type Detail = TransitionDetail | BlendDetail | SpliceDetail | TableDetail;
export interface ResultAnswer {
  result: number;
  shown: Shown;
  // Motions that the page named in `have` come without `shown` and without arrays.
  sources: { clip: string; key: string; placement: [number, number, number]; shown: Shown | null }[];
  why: Why;
  detail: Detail;
  files: { name: string; url: string }[]; // that the command line shown reads
}
export interface Format { name: string; title: string; suffix: string }
export interface Preset { name: string; title: string; format: string; verified: boolean; about: string }

export type NumberArray = Float32Array | Uint8Array | Int32Array;
export interface Named { shape: number[]; values: NumberArray }
export type Arrays = Record<string, Named>;
export interface Pose { live: number; frame: number; planted: number; points: Float32Array }
