// The page of a checked data set: every clip, worst first; filtered, sorted, listed. No network.

import "../colours.css";
import "./dataset_page.css";
import { button, download, make } from "../dom";
import { setTheme } from "../theme";
import { type Clip, type Column, type Dataset, readDataset, type Status, shortNumber } from "./dataset_data";
import { Thumbnails } from "./thumbnail";

const BATCH = 60; // rows that are added at a time
const STATES: [Status, string][] = [
  ["good", "good"],
  ["faulty", "faulty"],
  ["unreadable", "unreadable"],
];

// Sort keys that are no columns; a column may be named "file".
const SEVERITY = " severity";
const PATH = " path";

interface View {
  states: Set<Status>;
  columns: Set<string>;
  text: string;
  sort: string; // SEVERITY, PATH, or the name of a column
  down: boolean;
}

function createPage(host: HTMLElement, data: Dataset): void {
  const view: View = { states: new Set(), columns: new Set(), text: "", sort: SEVERITY, down: true };
  let thumbnails = new Thumbnails(data);
  let shown: Clip[] = [];
  let n_rows = 0;

  const search = make("input", {
    attrs: { type: "search", placeholder: "part of a file name or problem", "aria-label": "search" },
    on: {
      input: () => {
        view.text = search.value.trim().toLowerCase();
        update();
      },
    },
  });
  const sort = make("select", {
    attrs: { "aria-label": "sort by" },
    on: { change: () => sortBy(sort.value, sort.value !== PATH) },
  });
  for (const [name, label] of sortings(data)) sort.append(make("option", { attrs: { value: name } }, label));
  const total = make("output", { class: "total", attrs: { "aria-live": "polite" } });
  const rows = make("table", {}, make("thead"));
  const heads = new Map<string, HTMLTableCellElement>();
  const end = make("div", { class: "end" });
  const states = STATES.map(([name, label]) =>
    chip(`${label} ${data.counts[name]}`, `show ${label} clips`, view.states, name),
  );
  const columns = data.columns.map((column) => {
    const n = data.clips.filter((clip) => clip.defects.some((defect) => defect[0] === column.name)).length;
    const pressed = chip(`${column.label} ${n}`, column.about, view.columns, column.name);
    pressed.disabled = n === 0;
    return pressed;
  });
  const theme = button("◐", "light or dark", () => {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    thumbnails.redraw();
  });
  const save = button("Save this list", "write the paths of the clips shown to a text file", () => {
    const text = shown.map((clip) => `${data.folder}${clip.file}\n`).join("");
    const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    download(url, "clips.txt");
    window.setTimeout(() => URL.revokeObjectURL(url), 1000);
  });

  const filters = make(
    "section",
    { class: "filters", attrs: { "aria-label": "filters" } },
    make("div", { class: "chips states" }, ...states),
    make("div", { class: "chips" }, ...columns),
    make("div", { class: "finders" }, search, make("label", {}, "sort by ", sort)),
  );

  host.append(
    make(
      "header",
      {},
      make("h1", {}, data.title),
      make("span", { class: "folder", title: data.folder }, data.folder),
      total,
      save,
      theme,
    ),
    filters,
    rows,
    end,
  );
  rows.tHead!.append(heading());
  // Headings of columns stay in view below the filters, however many lines those take.
  new ResizeObserver(() => host.style.setProperty("--filters", `${filters.offsetHeight}px`)).observe(filters);
  new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && more(), {
    rootMargin: "600px",
  }).observe(end);
  update();

  function chip<T>(text: string, title: string, set: Set<T>, value: T): HTMLButtonElement {
    const pressed = button(text, title, () => {
      if (!set.delete(value)) set.add(value);
      pressed.setAttribute("aria-pressed", String(set.has(value)));
      update();
    });
    pressed.setAttribute("aria-pressed", "false");
    return pressed;
  }

  function heading(): HTMLTableRowElement {
    const cell = (name: string, label: string, title: string) => {
      const head = make("th", { attrs: { scope: "col" } });
      head.append(button(label, title, () => sortBy(name, view.sort === name ? !view.down : name !== PATH)));
      heads.set(name, head);
      return head;
    };
    return make(
      "tr",
      {},
      make("th", { attrs: { scope: "col" } }, "poses"),
      cell(PATH, "clip", "sort by name"),
      cell(SEVERITY, "severity", "how far all faults are beyond their limits"),
      ...data.columns.map((column) => cell(column.name, withUnit(column), about(column))),
    );
  }

  function sortBy(name: string, down: boolean): void {
    view.sort = name;
    view.down = down;
    sort.value = name;
    update();
  }

  function update(): void {
    shown = data.clips.filter((clip) => fits(clip, view));
    shown.sort(ordering(data, view));
    const seconds = shown.reduce((sum, clip) => sum + clip.seconds, 0);
    total.textContent = `${shown.length} of ${data.clips.length} clips, ${duration(seconds)}`;
    for (const [name, head] of heads) {
      const way = view.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", name === view.sort ? way : "none");
    }
    thumbnails.forget();
    thumbnails = new Thumbnails(data);
    for (const body of [...rows.tBodies]) body.remove();
    n_rows = 0;
    more();
  }

  function more(): void {
    const next = shown.slice(n_rows, n_rows + BATCH);
    n_rows += next.length;
    rows.append(...next.map((clip) => rowOf(clip, data, thumbnails)));
    end.hidden = n_rows >= shown.length && shown.length > 0;
    end.textContent = shown.length === 0 ? "No clip fits these filters." : "";
  }
}

// Two rows: figures, and below them what is wrong in words.
function rowOf(clip: Clip, data: Dataset, thumbnails: Thumbnails): HTMLTableSectionElement {
  const problems = clip.error
    ? [make("li", { class: "fault" }, clip.error)]
    : clip.defects.map(([column, level, text]) =>
        make("li", { class: level }, make("b", {}, labelOf(data, column)), ` ${text}`),
      );
  const levels = new Map(clip.defects.map(([column, level]) => [column, level]));
  const span = String(data.columns.length + 2);
  return make(
    "tbody",
    { class: clip.status },
    make(
      "tr",
      {},
      make("td", { class: "poses", attrs: { rowspan: "2" } }, thumbnails.of(clip)),
      make(
        "td",
        { class: "clip", title: data.folder + clip.file },
        make("div", { class: "file" }, clip.file),
        make("div", { class: "facts" }, facts(clip)),
      ),
      make("td", { class: "number severity" }, clip.error ? "–" : shortNumber(clip.severity)),
      ...data.columns.map((column, n) => {
        const before = clip.before && clip.before[n] !== clip.values[n] ? `${shortNumber(clip.before[n])} → ` : "";
        const level = levels.get(column.name) ?? "";
        return make("td", { class: `number ${level}`, title: about(column) }, before + shortNumber(clip.values[n]));
      }),
    ),
    make(
      "tr",
      { class: "words" },
      make("td", { class: "problems", attrs: { colspan: span } }, make("ul", {}, ...problems)),
    ),
  );
}

function facts(clip: Clip): string {
  if (clip.error) return "unreadable";
  return `${clip.status} · ${shortNumber(clip.seconds)} s at ${shortNumber(clip.fps)} fps`;
}

function fits(clip: Clip, view: View): boolean {
  if (view.states.size && !view.states.has(clip.status)) return false;
  if (view.columns.size && !clip.defects.some(([column]) => view.columns.has(column))) return false;
  if (!view.text) return true;
  const texts = [clip.file, clip.error ?? "", ...clip.defects.map((defect) => defect[2])];
  return texts.some((text) => text.toLowerCase().includes(view.text));
}

function ordering(data: Dataset, view: View): (a: Clip, b: Clip) => number {
  const sign = view.down ? -1 : 1;
  const byName = (a: Clip, b: Clip) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0);
  if (view.sort === PATH) return (a, b) => sign * byName(a, b);
  const at = data.columns.findIndex((column) => column.name === view.sort);
  const value = (clip: Clip) => (at < 0 ? clip.severity : (clip.values[at] ?? Number.NEGATIVE_INFINITY));
  return (a, b) => sign * compare(value(a), value(b)) || byName(a, b);
}

function duration(seconds: number): string {
  return seconds < 120 ? `${seconds.toFixed(0)} s` : `${(seconds / 60).toFixed(1)} min`;
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sortings(data: Dataset): [string, string][] {
  return [
    [SEVERITY, "worst first"],
    [PATH, "name"],
    ...data.columns.map((column): [string, string] => [column.name, column.label]),
  ];
}

function labelOf(data: Dataset, name: string): string {
  return data.columns.find((column) => column.name === name)?.label ?? name;
}

function withUnit(column: Column): string {
  return column.unit ? `${column.label} ${column.unit}` : column.label;
}

function about(column: Column): string {
  const limit = column.limit === null ? "not judged" : `up to ${column.limit} ${column.unit}`.trimEnd();
  return `${column.about}; ${limit}`;
}

const host = document.getElementById("dataset");
if (host) {
  setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  createPage(host, readDataset());
}
