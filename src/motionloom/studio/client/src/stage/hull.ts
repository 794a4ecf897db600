// The convex hull of points on the ground, in order around it; indices into `xz`.

export function hullOf(xz: ArrayLike<number>, from: number, count: number): number[] {
  const x = (k: number): number => xz[from + 2 * k];
  const z = (k: number): number => xz[from + 2 * k + 1];
  const order: number[] = [];
  for (let k = 0; k < count; k++) if (Number.isFinite(x(k)) && Number.isFinite(z(k))) order.push(k);
  if (order.length < 3) return [];
  order.sort((a, b) => x(a) - x(b) || z(a) - z(b));
  const half = (points: number[]): number[] => {
    const corners: number[] = [];
    for (const p of points) {
      while (corners.length > 1) {
        const [a, b] = [corners[corners.length - 2], corners[corners.length - 1]];
        if ((x(b) - x(a)) * (z(p) - z(a)) - (z(b) - z(a)) * (x(p) - x(a)) > 1e-12) break;
        corners.pop();
      }
      corners.push(p);
    }
    return corners.slice(0, -1);
  };
  return [...half(order), ...half([...order].reverse())];
}

// Whether a spot lies in a hull that `hullOf` gave.
export function within(xz: ArrayLike<number>, from: number, hull: number[], x: number, z: number): boolean {
  return (
    hull.length > 2 &&
    hull.every((p, n) => {
      const q = hull[(n + 1) % hull.length];
      const [px, pz, qx, qz] = [xz[from + 2 * p], xz[from + 2 * p + 1], xz[from + 2 * q], xz[from + 2 * q + 1]];
      return (qx - px) * (z - pz) - (qz - pz) * (x - px) >= 0;
    })
  );
}
