// A project from outside (a link, a file, the last visit): every part is checked, and what cannot be
// used gets its initial value and is reported.

import { KINDS } from "./motion";
import { SWITCHES } from "./stage/layer";
import { FIRST, type Project } from "./store";

type Plain = Record<string, unknown>;
type Check = [test: (value: unknown) => boolean, words: string];

const plain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);
const finite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isText = (value: unknown): boolean => typeof value === "string" && value.length <= 500;
const isFrame = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 1e7;
const isShare = (value: unknown): boolean => finite(value) && value >= -10 && value <= 10;
const listOf =
  (test: (value: unknown) => boolean, most: number) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.length <= most && value.every(test);
const mapOf =
  (test: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    plain(value) && Object.values(value).every(test);

const flag: Check = [(value) => typeof value === "boolean", "true or false"];
const text: Check = [isText, "a text"];
const among = (...names: string[]): Check => [(value) => names.includes(value as string), `one of ${names.join(", ")}`];
const between = (low: number, high: number): Check => [
  (value) => finite(value) && value >= low && value <= high,
  `a number from ${low} to ${high}`,
];
const orNull = ([test, words]: Check): Check => [(value) => value === null || test(value), `${words}, or null`];
const frame: Check = [isFrame, "a frame number"];
const isSpan = (value: unknown): boolean => listOf(isFrame, 2)(value) && (value as unknown[]).length === 2;
const isPlant = (value: unknown): boolean => isSpan(value) && (value as number[])[0] <= (value as number[])[1];
const isPlants = (value: unknown): boolean =>
  mapOf(listOf(isPlant, 20_000))(value) &&
  Object.keys(value as Plain).every((kind) => (KINDS as readonly string[]).includes(kind));

const CHECKS: Record<string, Check> = {
  version: [(value) => value === FIRST.version, "1"],
  tab: among("transition", "blend", "splice", "table"),
  a: orNull(text),
  b: orNull(text),
  clean: flag,
  plants: [mapOf(isPlants), "first and last frames of every plant"],
  "transition.at": orNull([isSpan, "two frame numbers"]),
  "transition.length_s": between(0.05, 10),
  "transition.moving": flag,
  "transition.timewarp": flag,
  "blend.clips": [listOf(isText, 16), "a list of clips"],
  "blend.weights": [listOf(isShare, 18), "a list of numbers"],
  "blend.parameters": orNull([mapOf(finite), "numbers by name"]),
  "blend.recorded": orNull([listOf(listOf(isShare, 18), 1e5), "a list of weights for every frame"]),
  "blend.cycles": flag,
  "blend.sync_contacts": flag,
  "splice.method": among("naive", "time", "time+space", "full"),
  "splice.where": among("torso", "chest", "arms", "left_arm", "right_arm", "head"),
  "splice.when_short": among("crop", "loop", "hold"),
  "splice.soft": flag,
  "splice.align": flag,
  "splice.keep_bend": flag,
  "splice.compare": flag,
  "table.mode": among("make", "live", "label"),
  "table.from": orNull(frame),
  "table.to": orNull(frame),
  "table.label": orNull(text),
  "table.by": among("table", "graph", "better"),
  "table.search": flag,
  "table.variation": orNull(frame),
  "table.lead_s": between(0, 60),
  "table.follow_s": between(0, 60),
  "table.rater": text,
  "view.overlaid": flag,
  "view.camera": among("three-quarter", "front", "side", "top"),
  "view.follow": flag,
  "view.theme": among("auto", "light", "dark"),
  ...Object.fromEntries(SWITCHES.map((name) => [`view.layers.${name}`, flag])),
};

export interface Checked {
  project: Project;
  problems: string[];
}

// `library`: ids of the library's clips.
export function checkProject(outside: unknown, library: Set<string>): Checked {
  if (!plain(outside)) return { project: FIRST, problems: ["it must be an object"] };
  const problems: string[] = [];
  // Projects of earlier versions have the name of the tab under `room`.
  const renamed = "room" in outside && !("tab" in outside) ? { ...outside, tab: outside.room } : outside;
  const project = merged(FIRST as unknown as Plain, renamed, "", problems) as unknown as Project;
  return { project: withoutUnknown(project, library, problems), problems };
}

function merged(first: Plain, outside: Plain, path: string, problems: string[]): Plain {
  return Object.fromEntries(
    Object.entries(first).map(([name, value]) => {
      const full = path + name;
      const given = outside[name];
      if (given === undefined) return [name, value];
      const check = CHECKS[full];
      if (check) {
        if (check[0](given)) return [name, given];
        problems.push(`${full} must be ${check[1]}, got ${short(given)}`);
        return [name, value];
      }
      if (plain(given)) return [name, merged(value as Plain, given, `${full}.`, problems)];
      problems.push(`${full} must be an object, got ${short(given)}`);
      return [name, value];
    }),
  );
}

function withoutUnknown(project: Project, library: Set<string>, problems: string[]): Project {
  const { a, b, blend } = project;
  const gone = [...new Set([a, b, ...blend.clips].filter((id): id is string => id !== null && !library.has(id)))];
  if (!gone.length) return project;
  problems.push(
    `these clips are not in the library: ${gone.slice(0, 6).join(", ")}${gone.length > 6 ? ` and ${gone.length - 6} more` : ""}`,
  );
  const listed = (id: string | null): string | null => (id !== null && library.has(id) ? id : null);
  return {
    ...project,
    a: listed(a),
    b: listed(b),
    blend: {
      ...blend,
      clips: blend.clips.filter((id) => library.has(id)),
      weights: [],
      parameters: null,
      recorded: null,
    },
  };
}

// What the user reads; where nothing could be used, the project is the initial one.
export function reportOf(what: string, { project, problems }: Checked): string {
  const listed = problems.slice(0, 3).join("; ");
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : "";
  if (project === FIRST) return `${what[0].toUpperCase()}${what.slice(1)} could not be used: ${listed}${more}.`;
  return `Parts of ${what} could not be used: ${listed}${more}. Everything else was applied.`;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
