// Colours of a heat map: even to the eye, distinct without colour too, for they rise in lightness.

const MAGMA: [number, number, number][] = [
  [0, 0, 4],
  [28, 16, 68],
  [79, 18, 123],
  [129, 37, 129],
  [181, 54, 122],
  [229, 80, 100],
  [251, 135, 97],
  [254, 194, 135],
  [252, 253, 191],
];

export function magma(amount: number): [number, number, number] {
  const at = Math.min(Math.max(amount, 0), 1) * (MAGMA.length - 1);
  const low = Math.min(Math.floor(at), MAGMA.length - 2);
  const t = at - low;
  return MAGMA[low].map((value, c) => value + t * (MAGMA[low + 1][c] - value)) as [number, number, number];
}
