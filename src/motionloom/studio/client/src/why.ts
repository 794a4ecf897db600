// Quality: errors, the figures of the result, warnings and notes, and the same run as a command.

import { button, make, replace } from "./dom";
import type { Fault } from "./faults";
import type { Verdict, WhyRow } from "./messages";
import { currentResult } from "./store";
import type { Mount } from "./tools";

const WORDS: Record<Verdict, string> = { good: "good", fair: "fair", bad: "look closer", plain: "" };
const SIGNS: Record<Verdict, string> = { good: "●", fair: "◐", bad: "▲", plain: "" }; // the shape differs, too, for readers who do not see the colours

export const mountWhy: Mount = (within, { store, clock }) => {
  const body = make("div", {
    class: "why-body",
    attrs: { tabindex: "0", role: "group", "aria-label": "quality of the result" },
  });
  const same = make("div", {
    class: "why-code",
    attrs: { tabindex: "0", role: "group", "aria-label": "the same outside the studio" },
  });
  const errors = make("div", { class: "faults", attrs: { "aria-live": "assertive" } });
  within.append(make("h2", {}, "Quality"), errors, body, same);

  // Errors of a result appear in its own tab only.
  function faults(): Fault[] {
    return store.scene.faults.filter(
      ({ cause }) => !cause.startsWith("result:") || cause === `result:${store.project.tab}`,
    );
  }

  function drawErrors(): void {
    replace(
      errors,
      ...faults().map((fault) =>
        make(
          "p",
          { class: "fault", attrs: { role: "alert" } },
          make("span", {}, fault.text),
          fault.action ? button(fault.action.text, fault.action.text, fault.action.press, "small") : null,
          button("×", "close this message (Escape)", () => store.clear(fault.cause), "small bare close"),
        ),
      ),
    );
  }

  document.addEventListener("keydown", (event) => {
    const last = faults().at(-1);
    if (event.key === "Escape" && last && !event.defaultPrevented) store.clear(last.cause);
  });

  function draw(): void {
    const result = currentResult(store);
    const { busy } = store.scene;
    const state = busy ? make("p", { class: "busy" }, busy) : null;
    same.hidden = !result;
    if (!result) {
      replace(same);
      replace(
        body,
        state ??
          make(
            "p",
            { class: "quiet" },
            store.scene.live ? "A live motion is not measured." : "The quality of the result appears here.",
          ),
      );
      return;
    }
    const { why } = result.answer;
    const seek = (frame: number): void => clock.seek(frame / result.motion.fps);
    replace(
      body,
      make(
        "p",
        { class: `headline ${why.verdict}` },
        make("strong", {}, `${SIGNS[why.verdict]} ${WORDS[why.verdict]}`),
        make("span", {}, why.headline),
        state,
      ),
      make("table", { class: "figures" }, make("tbody", {}, ...why.rows.map((row) => rowOf(row, seek)))),
      ...why.warnings.map((text) => make("p", { class: "warning" }, text)),
      ...why.notes.map((text) => make("p", { class: "note" }, text)),
    );
    const { detail } = result.answer;
    const unrated = detail.tab === "table" && detail.rating !== null; // the names of the clips would bias the rater
    same.hidden = unrated;
    replace(same, ...(unrated ? [] : [code("command line", why.command), code("Python", why.python)]));
  }

  store.listen((project, scene, before) => {
    if (scene.faults !== before.scene.faults || project.tab !== before.project.tab) drawErrors();
    if (
      scene.results !== before.scene.results ||
      scene.busy !== before.scene.busy ||
      scene.live !== before.scene.live ||
      project.tab !== before.project.tab
    )
      draw();
  });
  draw();
};

function rowOf(row: WhyRow, seek: (frame: number) => void): HTMLElement {
  const value = row.value === null ? "none" : `${figure(row.value)} ${row.unit}`;
  const before =
    row.before === null
      ? null
      : make("span", { class: "before", title: "before clean-up" }, `${figure(row.before)} → `);
  const bounds = row.limits ? `; good to ${figure(row.limits[0])}, fair to ${figure(row.limits[1])} ${row.unit}` : "";
  const { frame } = row;
  const goTo =
    frame === null ? null : button("↦", `go to frame ${frame}, where it is worst`, () => seek(frame), "go-to");
  return make(
    "tr",
    { class: row.verdict, title: row.about + bounds },
    make("th", { class: row.label.startsWith(" ") ? "part" : "", attrs: { scope: "row" } }, row.label.trim(), goTo),
    make("td", {}, before, make("span", { class: "value" }, value), gauge(row)),
    make(
      "td",
      { class: "sign" },
      make("span", { attrs: { role: "img", "aria-label": WORDS[row.verdict] || "no limit" } }, SIGNS[row.verdict]),
    ),
  );
}

// The figure on a scale on which good and fair end at the same places in every row.
function gauge({ value, limits }: WhyRow): HTMLElement | null {
  if (!limits || value === null) return null;
  const [good, fair] = limits;
  const at =
    value <= good
      ? 0.4 * (value / Math.max(good, 1e-9))
      : value <= fair
        ? 0.4 + (0.3 * (value - good)) / Math.max(fair - good, 1e-9)
        : 0.7 + 0.3 * Math.min((value - fair) / Math.max(fair, 1e-9), 1);
  const mark = make("i");
  mark.style.left = `${100 * Math.min(Math.max(at, 0.01), 0.99)}%`;
  return make("span", { class: "gauge" }, mark);
}

function figure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function code(title: string, text: string): HTMLElement {
  const copy = button(
    "copy",
    `copy the ${title}`,
    () => {
      void navigator.clipboard.writeText(text).then(() => {
        copy.textContent = "copied";
      });
      setTimeout(() => {
        copy.textContent = "copy";
      }, 1500);
    },
    "small",
  );
  return make(
    "section",
    { class: "code" },
    make("header", {}, make("h3", {}, title), copy),
    make("pre", {}, make("code", {}, text)),
  );
}
