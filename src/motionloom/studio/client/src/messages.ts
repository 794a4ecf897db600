// Every message between page and server: the same as studio/messages.py and studio/answers.py say.

export type Verdict = "good" | "fair" | "bad" | "plain";
export type Span = [number, number];
export type PlantSpans = Record<string, Span[]>;

export interface Requests {
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
  };
  "blend.make": { clips: string[]; weights?: number[]; parameters?: Record<string, number>; clean?: boolean };
  "blend.space": { clips: string[] };
  "control.start": { clips: string[]; loop?: boolean };
  "control.stop": { live: number };
  "splice.make": {
    upper: string;
    lower: string;
    method?: "naive" | "time" | "time+space" | "full";
    where?: string;
    when_short?: "crop" | "loop" | "hold";
    soft?: boolean;
    keep_bend?: boolean;
  };
  "export.make": { what: string; format: string; preset?: string | null };
  "export.formats": Record<never, never>;
  "page.make": { result: number };
  "project.save": { project: unknown };
  "project.load": Record<never, never>;
}

export interface Answers {
  "library.list": { name: string; items: Item[] };
  "library.preview": { facts: Facts; looks: Looks };
  "clip.open": { clip: string; shown: Shown; findings: Finding[]; facts: Facts };
  "transition.make": ResultAnswer;
  "blend.make": ResultAnswer;
  "blend.space": { names: string[]; ranges: Span[]; values: number[][] };
  "control.start": { live: number; fps: number; looks: Looks };
  "control.stop": Record<never, never>;
  "splice.make": ResultAnswer;
  "export.make": { url: string; name: string; bytes: number };
  "page.make": { url: string; name: string; bytes: number };
  "export.formats": { formats: Format[]; presets: Preset[] };
  "project.save": Record<never, never>;
  "project.load": { project: unknown };
}

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
}
export interface BlendDetail { room: "blend"; weights: number[] }
export interface SpliceDetail { room: "splice"; method: string; where: string }
export type Detail = TransitionDetail | BlendDetail | SpliceDetail;
export interface ResultAnswer {
  result: number;
  shown: Shown;
  sources: { clip: string; placement: [number, number, number]; shown: Shown }[];
  why: Why;
  detail: Detail;
}
export interface Format { name: string; title: string; suffix: string }
export interface Preset { name: string; title: string; format: string; verified: boolean }

export type NumberArray = Float32Array | Uint8Array | Int32Array;
export interface Named { shape: number[]; values: NumberArray }
export type Arrays = Record<string, Named>;
export interface Pose { live: number; frame: number; planted: number; points: Float32Array }
