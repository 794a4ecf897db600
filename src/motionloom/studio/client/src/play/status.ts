// What plays and what comes next, as text and as a bar.

import { make } from "../dom";
import type { Clip, Place } from "../runtime";
import type { Character } from "./character";

export interface Status {
  element: HTMLElement;
  draw(going: string): void;
}

export function createStatus(character: Character, clips: readonly Clip[], fps: number, length: number): Status {
  const what = make("strong", { class: "what", attrs: { "aria-live": "polite" } });
  const where = make("span", { class: "where" });
  const fill = make("span", { class: "fill" });
  const element = make("div", { class: "status" }, what, where, make("span", { class: "way" }, fill));
  const framesOf = new Map(clips.map(({ name, frames }) => [name, frames]));

  const showText = (on: HTMLElement, text: string): void => {
    if (on.textContent !== text) on.textContent = text;
  };
  const name = (place: Place): string => character.labelsAt(place).join(", ") || place.clip;

  function draw(going: string): void {
    const { now, next } = character;
    if (next) {
      showText(what, `→ ${going || name(next)}`);
      showText(where, `${next.clip}, frame ${next.frame}, in ${(next.frames / fps).toFixed(1)} s`);
      fill.style.width = `${(100 * (length - next.frames)) / length}%`;
    } else if (now) {
      const frames = framesOf.get(now.clip) ?? 1;
      showText(what, name(now));
      showText(where, `${now.clip}, frame ${now.frame} of ${frames}`);
      fill.style.width = `${(100 * (now.frame + 1)) / frames}%`;
    }
    element.classList.toggle("changing", next !== null);
  }
  return { element, draw };
}
