// Edits on the timeline: the blend at another place, plants of A and B set by hand. The
// lanes show the result's plants; an edit changes the clip that the foot comes from at that frame.

import type { PlantSpans, Print, Span } from "../messages";
import { KINDS } from "../motion";
import { currentResult, type Store, type TabResult } from "../store";
import type { Bracket } from "./rows";
import type { Edits } from "./sheet";

const SHORTEST_S = 0.1; // of a blend
const LONGEST_S = 2;
const NEW_PLANT_S = 0.2;
const CLEAR = 2; // frames between two plants

export function bracketEdits(store: Store, result: TabResult): Edits["bracket"] {
  const { detail } = result.answer;
  if (detail.tab !== "transition") return undefined;
  const { at, span } = detail;
  const { fps } = result.motion;
  const [mostA, mostB] = result.sources.map(({ frames }) => frames - 1);
  const inside = (frame: number, most: number): number => Math.min(Math.max(Math.round(frame), 0), most);
  const join = (a: number, b: number, length_s: number): void =>
    store.commit("bracket", {
      transition: { ...store.project.transition, at: [inside(a, mostA), inside(b, mostB)], length_s },
    });
  const { length_s } = store.project.transition;
  return {
    set({ first, last }: Bracket) {
      const moved = (first + last - span[0] - span[1]) / 2;
      const changed = (last - first - (span[1] - span[0])) / fps;
      const next = changed === 0 ? length_s : Math.min(Math.max((last - first) / fps, SHORTEST_S), LONGEST_S);
      join(at[0] + moved, at[1] + moved, Number(next.toFixed(3)));
    },
    slip: (strip, frames) => join(at[0] - (strip === 0 ? frames : 0), at[1] - (strip === 1 ? frames : 0), length_s),
  };
}

// The blend some frames on, or longer by some: for keys.
export function nudge(store: Store, frames: number, longer_s: number): void {
  const result = currentResult(store);
  if (result?.answer.detail.tab !== "transition") return;
  const edits = bracketEdits(store, result)!;
  const [first, last] = result.answer.detail.span;
  const more = Math.round((longer_s * result.motion.fps) / 2);
  edits.set({ first: first + frames - more, last: last + frames + more });
  store.endDrag();
}

interface Origin {
  clip: string;
  frame: number;
}

export function plantEdits(store: Store): Edits["plants"] {
  const origin = originOf(store);
  if (!origin) return undefined;

  function put(clip: string, kind: string, spans: Span[], key: string): void {
    const all = spansOf(store, clip);
    if (all) store.commit(key, { plants: { ...store.project.plants, [clip]: { ...all, [kind]: spans } } });
  }

  return {
    hold(print, end) {
      const from = origin(print[end]);
      const spans = from && spansOf(store, from.clip)?.[print.kind];
      if (!from || !spans?.length) return null;
      const side = end === "first" ? 0 : 1;
      const k = spans.reduce(
        (best, span, n) => (Math.abs(span[side] - from.frame) < Math.abs(spans[best][side] - from.frame) ? n : best),
        0,
      );
      const low = end === "first" ? (spans[k - 1]?.[1] ?? -CLEAR) + CLEAR : spans[k][0];
      const high =
        end === "first"
          ? spans[k][1]
          : Math.max(spans[k][0], (spans[k + 1]?.[0] ?? framesOf(store, from.clip) - 1 + CLEAR) - CLEAR);
      return (frame) => {
        const to = origin(frame, from.clip);
        if (!to) return;
        const moved = Math.min(Math.max(Math.round(to.frame), low), high);
        const next = spans.map(
          (span, n): Span => (n !== k ? span : end === "first" ? [moved, span[1]] : [span[0], moved]),
        );
        put(from.clip, print.kind, next, "plants");
      };
    },
    remove(print) {
      for (const from of [origin(print.first), origin(print.last)]) {
        const spans = from && spansOf(store, from.clip)?.[print.kind];
        if (!spans) continue;
        const [first, last] = [
          origin(print.first, from.clip)?.frame ?? 0,
          origin(print.last, from.clip)?.frame ?? Infinity,
        ];
        const others = spans.filter((span) => span[1] < first || span[0] > last);
        if (others.length < spans.length) put(from.clip, print.kind, others, "remove plant");
      }
      store.endDrag();
    },
    add(kind, frame) {
      const from = origin(frame);
      const spans = from && spansOf(store, from.clip)?.[kind];
      if (!spans) return;
      const half = (NEW_PLANT_S / 2) * (store.scene.clips[from.clip]?.fps ?? 60);
      const last = framesOf(store, from.clip) - 1;
      if (from.frame < 0 || from.frame > last) return; // the clip has no such frame
      const span: Span = [Math.max(0, Math.round(from.frame - half)), Math.min(last, Math.round(from.frame + half))];
      if (spans.some(([a, b]) => a <= span[1] + 1 && b >= span[0] - 1)) return;
      put(
        from.clip,
        kind,
        [...spans, span].sort((a, b) => a[0] - b[0]),
        "",
      );
    },
  };
}

// From a frame of what is shown to the clip and frame that it comes from; null where edits have no
// place to go: only transitions and single clips take plants set by hand.
function originOf(store: Store): ((frame: number, clip?: string) => Origin | null) | null {
  const result = currentResult(store);
  if (!result) {
    const clip = store.project.a ?? store.project.b;
    return clip ? (frame) => ({ clip, frame }) : null;
  }
  const { detail, sources } = result.answer;
  if (detail.tab !== "transition") return null;
  const middle = (detail.span[0] + detail.span[1]) / 2;
  return (frame, wanted) => {
    const k = wanted === undefined ? (frame < middle ? 0 : 1) : sources.findIndex(({ clip }) => clip === wanted);
    const { clip } = sources[k];
    const rate = (store.scene.clips[clip]?.fps ?? result.motion.fps) / result.motion.fps; // matched to A's rate
    return { clip, frame: rate * sourceFrame(result, frame, k) };
  };
}

// The source's frame at a frame of the result; where it has none, extrapolated.
function sourceFrame({ sourceFrames, sources, motion }: TabResult, frame: number, k: number): number {
  const n = sources.length;
  const from = Math.min(Math.max(Math.round(frame), 0), motion.frames - 1);
  for (let away = 0; away < motion.frames; away++) {
    for (const row of [from - away, from + away]) {
      const own = row >= 0 && row < motion.frames ? sourceFrames[row * n + k] : NaN;
      if (Number.isFinite(own)) return own + frame - row;
    }
  }
  return frame;
}

function framesOf(store: Store, clip: string): number {
  return store.scene.clips[clip]?.frames ?? 0;
}

// All plants of a clip, set by hand or detected.
function spansOf(store: Store, clip: string): PlantSpans | null {
  const set = store.project.plants[clip];
  if (set) return set;
  const shown = store.scene.clips[clip];
  if (!shown) return null;
  const of = (kind: string): Span[] =>
    shown.prints
      .filter((print: Print) => print.kind === kind)
      .map(({ first, last }): Span => [first, last])
      .sort((a, b) => a[0] - b[0]);
  return Object.fromEntries(KINDS.map((kind) => [kind, of(kind)]));
}
