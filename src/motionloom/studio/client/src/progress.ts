// Progress of requests that take longer than half a second: name, bar, time left, a cancel button.

import { button, make } from "./dom";
import type { Task } from "./tasks";
import type { Mount } from "./tools";

const AFTER_MS = 500;
const MOST = 3; // shown at once

interface Row {
  element: HTMLElement;
  draw(task: Task, now: number): void;
}

export const mountProgress: Mount = (within, { store, clock }) => {
  const box = make("div", { class: "tasks", attrs: { "aria-live": "polite" } });
  within.append(box);
  const rows = new Map<number, Row>();

  clock.onTick(() => {
    const { tasks } = store.scene;
    if (!tasks.length && !rows.size) return;
    const now = performance.now();
    const shown = tasks.filter(({ begun }) => now - begun > AFTER_MS).slice(0, MOST);
    for (const [id, { element }] of rows) {
      if (shown.some((task) => task.id === id)) continue;
      element.remove();
      rows.delete(id);
    }
    for (const task of shown) {
      const row = rows.get(task.id) ?? rowOf(task);
      if (!rows.has(task.id)) {
        rows.set(task.id, row);
        box.append(row.element);
      }
      row.draw(task, now);
    }
  });
};

function rowOf(task: Task): Row {
  const text = make("span", { class: "task-text" });
  const fill = make("div", { class: "progress-fill" });
  const bar = make(
    "div",
    {
      class: "progress",
      attrs: { role: "progressbar", "aria-label": task.name, "aria-valuemin": "0", "aria-valuemax": "100" },
    },
    fill,
  );
  const stop = button(
    "Cancel",
    "stop this; the shown result stays",
    () => {
      stop.disabled = true;
      task.cancel?.();
    },
    "small",
  );
  stop.hidden = task.cancel === null;
  const element = make("div", { class: "task" }, text, bar, stop);
  return {
    element,
    draw(now, time) {
      const part = partOf(now, time);
      const words = `${now.stage || now.name}: ${timeOf(now, time)}`;
      if (text.textContent !== words) text.textContent = words;
      bar.classList.toggle("unknown", part === null);
      fill.style.width = part === null ? "" : `${Math.round(100 * part)}%`;
      if (part === null) bar.removeAttribute("aria-valuenow");
      else bar.setAttribute("aria-valuenow", String(Math.round(100 * part)));
    },
  };
}

// Reported by the server, or expected from the last request of the kind.
function leftOf({ left_s, reported, begun, expected_s }: Task, now: number): number | null {
  if (left_s !== null) return Math.max(0, left_s - (now - reported) / 1000);
  return expected_s === null ? null : expected_s - (now - begun) / 1000;
}

function partOf(task: Task, now: number): number | null {
  if (task.part !== null) return Math.min(Math.max(task.part, 0), 1);
  const left = leftOf(task, now);
  if (left === null || left < 0) return null; // it takes longer than the last one
  const spent = (now - task.begun) / 1000;
  return spent / Math.max(spent + left, 1e-3);
}

function timeOf(task: Task, now: number): string {
  const left = leftOf(task, now);
  const spent = (now - task.begun) / 1000;
  return left === null || left < 0
    ? `${Math.max(1, Math.round(spent))} s so far`
    : left < 1
      ? "less than 1 s left"
      : `about ${Math.ceil(left)} s left`;
}
