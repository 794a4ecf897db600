// A figure to point at: which part of the body is taken from A; the rest is B's.

import { shape } from "../svg";

export type Where = "torso" | "chest" | "arms" | "left_arm" | "right_arm" | "head";

type Piece = "head" | "chest" | "belly" | "left_arm" | "right_arm" | "legs";

export const WHERES: [Where, string][] = [
  ["torso", "all above the pelvis"],
  ["chest", "chest, arms, head"],
  ["arms", "both arms"],
  ["left_arm", "left arm"],
  ["right_arm", "right arm"],
  ["head", "head"],
];

const TAKEN: Record<Where, Piece[]> = {
  torso: ["belly", "chest", "left_arm", "right_arm", "head"],
  chest: ["chest", "left_arm", "right_arm", "head"],
  arms: ["left_arm", "right_arm"],
  left_arm: ["left_arm"],
  right_arm: ["right_arm"],
  head: ["head"],
};

// It looks at us: its left arm is on our right.
const OUTLINES: Record<Piece, string[]> = {
  head: ["M60 6c9 0 15 7 15 17s-6 19-15 19-15-9-15-19 6-17 15-17z", "M53 42h14v8H53z"],
  chest: ["M36 56c6-4 15-6 24-6s18 2 24 6c3 10 0 24-4 34H40c-4-10-7-24-4-34z"],
  belly: ["M41 94h38c-1 9 0 16 3 24H38c3-8 4-15 3-24z"],
  right_arm: ["M32 57c-8 4-12 14-14 26l-6 30c-1 6 7 8 9 2l9-29c3-10 5-20 2-29z", "M10 119c-3 4-3 12 1 13s8-4 8-11z"],
  left_arm: ["M88 57c8 4 12 14 14 26l6 30c1 6-7 8-9 2l-9-29c-3-10-5-20-2-29z", "M110 119c3 4 3 12-1 13s-8-4-8-11z"],
  legs: [
    "M37 122h46c3 8 3 14 1 22H36c-2-8-2-14 1-22z",
    "M36 148h22l-3 46-3 40H40l-2-40z",
    "M84 148H62l3 46 3 40h12l2-40z",
    "M39 237h14l1 9H32c0-4 3-7 7-9z",
    "M81 237H67l-1 9h22c0-4-3-7-7-9z",
  ],
};

const WORDS: Record<Piece, string> = {
  head: "head",
  chest: "chest, arms and head",
  belly: "all above the pelvis",
  left_arm: "left arm",
  right_arm: "right arm",
  legs: "legs: always B's",
};

export function createFigure(take: (where: Where) => void): { element: SVGSVGElement; show(where: string): void } {
  const element = shape("svg", {
    viewBox: "0 0 120 250",
    class: "figure",
    role: "group",
    "aria-label": "what is taken from A",
  });
  let now: Where = "torso";
  const groups = (Object.keys(OUTLINES) as Piece[]).map((piece) => {
    const group = shape(
      "g",
      { class: "piece", "data-piece": piece },
      shape("title", {}, WORDS[piece]),
      ...OUTLINES[piece].map((d) => shape("path", { d })),
    );
    group.addEventListener("click", () => {
      const next = chosen(piece, now);
      if (next) take(next);
    });
    return [piece, group] as const;
  });
  element.append(...groups.map(([, group]) => group));
  return {
    element,
    show(where) {
      now = where as Where;
      for (const [piece, group] of groups) group.classList.toggle("taken", TAKEN[now].includes(piece));
    },
  };
}

// Pointing at the second arm takes both; pointing at one of both leaves the other.
function chosen(piece: Piece, now: Where): Where | null {
  switch (piece) {
    case "head":
      return "head";
    case "chest":
      return "chest";
    case "belly":
      return "torso";
    case "left_arm":
      return now === "right_arm" ? "arms" : now === "arms" ? "right_arm" : "left_arm";
    case "right_arm":
      return now === "left_arm" ? "arms" : now === "arms" ? "left_arm" : "right_arm";
    case "legs":
      return null;
  }
}
