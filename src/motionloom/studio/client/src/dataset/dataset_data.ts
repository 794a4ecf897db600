// What the page is given: columns, clips, and bones of their skeletons.

export interface Column {
  name: string;
  label: string;
  unit: string;
  about: string;
  limit: number | null;
}

export type Status = "good" | "faulty" | "unreadable";

export interface Clip {
  file: string;
  status: Status;
  severity: number;
  seconds: number;
  fps: number;
  values: (number | null)[];
  before?: (number | null)[];
  defects: [column: string, level: "fault" | "note", text: string][];
  error?: string;
  skeleton?: number;
  poses?: string;
}

export interface Figure {
  bones: [number, number][];
  head: number | null;
}

export interface Dataset {
  title: string;
  folder: string; // what all paths begin with
  counts: Record<Status, number>;
  columns: Column[];
  skeletons: Figure[];
  clips: Clip[];
}

export function readDataset(): Dataset {
  const block = document.getElementById("dataset-data");
  if (!block?.textContent) throw new Error("the page has no data");
  return JSON.parse(block.textContent) as Dataset;
}

// A figure in few letters: 0.04, 3.2, 141.
export function shortNumber(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const digits = Math.abs(value) < 1 ? 2 : Math.abs(value) < 10 ? 1 : 0;
  return value.toFixed(digits).replace(/\.0+$/, "");
}
