// Messages of the table room and of labelling: the same as studio/messages/table_messages.py says.

import type { Looks, ResultAnswer, Span } from "./messages";

export type Place = [string, number]; // a clip of the table, and a frame of it
export type Somewhere = [string, number | null]; // the same, or wherever in the clip it goes best
export type By = "table" | "graph" | "better";

export interface TableRequests {
  "table.state": Record<never, never>;
  "table.build": { clusters?: number; length_s?: number; fps?: number };
  "table.cancel": Record<never, never>;
  "table.open": { table: string };
  "table.matrix": Record<never, never>;
  "table.query": {
    source: Somewhere;
    target?: Somewhere | null;
    label?: string | null;
    rescore?: number;
    search?: boolean;
    variation?: number | null;
    lead_s?: number;
    follow_s?: number;
    by?: By;
    have?: string[];
  };
  "stream.start": { source: Place };
  "stream.go": { live: number; goal: string };
  "stream.stop": { live: number };
  "label.next": { rater: string; have?: string[] };
  "label.save": { table: string; transition: string; natural: boolean; rater: string };
  "label.file": Record<never, never>;
}

export interface TableAnswers {
  "table.state": TableState;
  "table.build": TableState;
  "table.cancel": TableState;
  "table.open": TableState;
  "table.matrix": { places: Place[]; score: string };
  "table.query": ResultAnswer;
  "stream.start": { live: number; fps: number; looks: Looks; goals: string[] };
  "stream.go": Record<never, never>;
  "stream.stop": Record<never, never>;
  "label.next": ResultAnswer;
  "label.save": Counts;
  "label.file": { url: string; name: string; bytes: number };
}

export interface TableState {
  tables: string[];
  table: TableFacts | null;
  job: Job | null;
}
export interface TableClip {
  id: string;
  clip: string | null;
  frames: number;
}
export interface TableFacts {
  id: string;
  clips: TableClip[];
  fps: number;
  frames: number;
  length: number;
  length_s: number;
  clusters: number;
  representatives: number;
  score: string;
  labels: string[];
  goals: string[];
  bytes: number;
  build: string;
  evaluate: string;
}
export interface Job {
  state: "running" | "built" | "stopped" | "failed";
  stage: string;
  part: number;
  elapsed_s: number;
  left_s: number | null;
  warnings: string[];
  error: string;
}
export interface Counts {
  judged: number;
  natural: number;
  all: number;
}
export interface TableCandidate {
  windows: string[];
  cost: number;
  natural: number;
  inches: number;
  feet_cm: number;
  balance_cm: number;
  spread_cm: number;
  taken: boolean;
}
export interface GraphPath {
  chosen: "graph" | "table" | "neither";
  why: string;
  graph_s: number | null;
  table_in: number;
}
export interface TableDetail {
  room: "table";
  span: Span;
  // A transition that was asked for:
  source?: Place;
  target?: Place;
  by?: "graph" | "table";
  candidates?: TableCandidate[];
  looked_at?: number;
  path?: GraphPath | null;
  // One that is to be judged:
  judging?: Counts & { table: string; transition: string; number: number };
}
