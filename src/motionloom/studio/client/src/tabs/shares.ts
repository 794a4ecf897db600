// Weights and places on a pad: corners of a polygon, each a clip, and a point between them.

export type Spot = [number, number];

// Corners of a pad for n clips: a line for two, a triangle, a square, then round; the first on top or left.
export function cornersOf(n: number): Spot[] {
  if (n === 2)
    return [
      [-1, 0],
      [1, 0],
    ];
  const first = n === 4 ? -0.75 * Math.PI : -0.5 * Math.PI;
  return Array.from({ length: n }, (_, k): Spot => {
    const angle = first + (2 * Math.PI * k) / n;
    return [Math.cos(angle), Math.sin(angle)];
  });
}

export function spotOf(weights: number[], corners: Spot[]): Spot {
  return corners.reduce<Spot>(([x, y], [u, v], k) => [x + weights[k] * u, y + weights[k] * v], [0, 0]);
}

// Weights of a point inside: Wachspress' coordinates, which are barycentric in a triangle, bilinear in
// a square, never negative, and lead back to the point.
export function weightsAt(spot: Spot, corners: Spot[]): number[] {
  const n = corners.length;
  if (n === 2) {
    const share = Math.min(Math.max((spot[0] + 1) / 2, 0), 1);
    return [1 - share, share];
  }
  const point = pulledIn(spot, corners);
  const area = (a: Spot, b: Spot, c: Spot): number => (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
  const raw = corners.map((corner, k) => {
    const before = corners[(k + n - 1) % n],
      after = corners[(k + 1) % n];
    return area(before, corner, after) / Math.max(area(point, before, corner) * area(point, corner, after), 1e-12);
  });
  const sum = raw.reduce((total, each) => total + each, 0);
  return raw.map((each) => each / sum);
}

// The point, or the nearest one just inside: on an edge the weights of the corners off it vanish.
function pulledIn(spot: Spot, corners: Spot[]): Spot {
  let [x, y] = spot;
  for (let turn = 0; turn < 3; turn++) {
    for (let k = 0; k < corners.length; k++) {
      const [a, b] = [corners[k], corners[(k + 1) % corners.length]];
      const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
      const length = Math.hypot(dx, dy);
      const inside = (dx * (y - a[1]) - dy * (x - a[0])) / length;
      const least = 1e-4;
      if (inside < least) {
        x += (-dy / length) * (least - inside);
        y += (dx / length) * (least - inside);
      }
    }
  }
  return [x, y];
}

// One weight set, the others keeping their proportions.
export function withWeight(weights: number[], k: number, share: number): number[] {
  const rest = weights.reduce((sum, each, n) => (n === k ? sum : sum + each), 0);
  return weights.map((each, n) =>
    n === k ? share : rest > 1e-6 ? (each / rest) * (1 - share) : (1 - share) / (weights.length - 1),
  );
}
