// Colours of the style sheet, for what is drawn and not styled.

export interface Palette {
  paper: string;
  panel: string;
  ink: string;
  text: string;
  amber: string;
  blue: string;
  planted: string;
  sliding: string;
  warning: string;
  grid: string;
  label: string;
  lane: string;
  line: string;
  shadow: string;
}

const NAMES: (keyof Palette)[] = [
  "paper",
  "panel",
  "ink",
  "text",
  "amber",
  "blue",
  "planted",
  "sliding",
  "warning",
  "grid",
  "label",
  "lane",
  "line",
  "shadow",
];

export function paletteOf(element: Element = document.documentElement): Palette {
  const style = getComputedStyle(element);
  return Object.fromEntries(
    NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  ) as unknown as Palette;
}

export function setTheme(theme: "auto" | "light" | "dark"): void {
  const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
