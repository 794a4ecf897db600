// The pane of each actor: one row for few; for many the main one large next to the others.

export interface Pane {
  actors: number[];
  left: number;
  top: number;
  width: number;
  height: number;
} // parts of the canvas

const MOST_IN_A_ROW = 4;

export function layPanes(count: number, main: number, overlaid: boolean): Pane[] {
  const all = Array.from({ length: count }, (_, k) => k);
  if (overlaid) return [{ actors: all, left: 0, top: 0, width: 1, height: 1 }];
  if (count <= MOST_IN_A_ROW) {
    return all.map((k) => ({ actors: [k], left: k / count, top: 0, width: 1 / count, height: 1 }));
  }
  const others = all.filter((k) => k !== main);
  const columns = Math.ceil(others.length / 2);
  const wide = columns / (columns + 1.5); // share of the others
  return all.map((k) => {
    if (k === main) return { actors: [k], left: 0, top: 0, width: 1 - wide, height: 1 };
    const n = others.indexOf(k);
    const column = n % columns,
      row = Math.floor(n / columns);
    return {
      actors: [k],
      left: 1 - wide + (wide * column) / columns,
      top: row / 2,
      width: wide / columns,
      height: 0.5,
    };
  });
}
