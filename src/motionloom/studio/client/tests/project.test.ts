// Projects from outside: what can be used is used, the rest is reported; links bring back what they were made of.

import { describe, expect, it } from "vitest";
import { linkOf, readLink } from "../src/links";
import { checkProject, reportOf } from "../src/projectcheck";
import { FIRST, type Project } from "../src/store";

const LIBRARY = new Set(["walk", "run"]);

// The same numbers on every run.
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function anything(next: () => number, depth = 0): unknown {
  const kinds = [
    () => null,
    () => next() < 0.5,
    () => Math.round(next() * 1e8) - 5e7,
    () => next() * 1e300 * 1e300,
    () => "x".repeat(Math.floor(next() * 700)),
    () => "walk",
    () => Array.from({ length: Math.floor(next() * 20) }, () => anything(next, depth + 1)),
    () => Object.fromEntries(Object.keys(FIRST).map((key) => [key, anything(next, depth + 1)])),
  ];
  return kinds[Math.floor(next() * (depth > 2 ? 6 : kinds.length))]();
}

describe("a project from outside", () => {
  it("is taken as it is where it is sound", () => {
    const project: Project = { ...FIRST, a: "walk", b: "run", transition: { ...FIRST.transition, at: [3, 9] } };
    expect(checkProject(JSON.parse(JSON.stringify(project)), LIBRARY)).toEqual({ project, problems: [] });
  });

  it("is sound after the check, whatever it was", () => {
    const next = dice(7);
    for (let n = 0; n < 2000; n++) {
      const part = anything(next);
      const outside = n % 2 ? part : { ...FIRST, [Object.keys(FIRST)[n % Object.keys(FIRST).length]]: part };
      const { project } = checkProject(outside, LIBRARY);
      expect(checkProject(project, LIBRARY).problems).toEqual([]);
    }
  });

  it.each([
    [{ transition: { length_s: 99 } }, "transition.length_s must be a number from 0.05 to 10, got 99"],
    [{ tab: "bake" }, 'tab must be one of transition, blend, splice, table, got "bake"'],
    [{ splice: 3 }, "splice must be an object, got 3"],
    [{ plants: { walk: { left_heel: [[9, 3]] } } }, "plants must be first and last frames of every plant"],
    [{ a: "waltz" }, "these clips are not in the library: waltz"],
  ])("says what is wrong with %j", (outside, words) => {
    const { problems } = checkProject(outside, LIBRARY);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(words);
  });

  it("keeps its other parts where one is wrong", () => {
    const checked = checkProject({ a: "walk", clean: "no" }, LIBRARY);
    expect(checked.project).toEqual({ ...FIRST, a: "walk" });
    expect(reportOf("this link", checked)).toContain("Everything else was applied.");
  });

  it("loses the weights with a clip that is gone", () => {
    const blend = { ...FIRST.blend, clips: ["waltz", "run"], weights: [0.1, 0.4, 0.5] };
    const { project } = checkProject({ ...FIRST, a: "walk", blend }, LIBRARY);
    expect(project.blend.clips).toEqual(["run"]);
    expect(project.blend.weights).toEqual([]);
  });

  it("has the names of earlier versions", () => {
    expect(checkProject({ room: "splice" }, LIBRARY).project.tab).toBe("splice");
  });
});

describe("a link", () => {
  it("is empty for a fresh project, and brings any other back", () => {
    expect(linkOf(FIRST)).toBe("");
    const project: Project = { ...FIRST, tab: "splice", a: "walk", splice: { ...FIRST.splice, where: "arms" } };
    expect(readLink(linkOf(project), LIBRARY)).toEqual({ project, problems: [] });
  });

  it("that is cut is reported, and changes nothing", () => {
    const link = linkOf({ ...FIRST, a: "walk" });
    for (const cut of [link.slice(0, -4), "#%E0%A4%A", "#3"]) {
      const read = readLink(cut, LIBRARY);
      expect(read?.project).toBe(FIRST);
      expect(read?.problems).toHaveLength(1);
    }
    expect(readLink("", LIBRARY)).toBeNull();
  });
});
