// Binary messages read: see studio/messages/wire.py for their layout.

export type NumberArray = Float32Array | Uint8Array | Int32Array;
export interface NamedArray {
  shape: number[];
  values: NumberArray;
}
export type Arrays = Record<string, NamedArray>;
export interface Pose {
  live: number;
  frame: number;
  planted: number; // bits: 1 left heel, 2 left toe, 4 right heel, 8 right toe
  points: Float32Array;
}

const KINDS = { float32: Float32Array, uint8: Uint8Array, int32: Int32Array } as const;

interface Head {
  id: number;
  type: string;
  arrays: { name: string; dtype: keyof typeof KINDS; shape: number[] }[];
}

export function magicOf(data: ArrayBuffer): string {
  return String.fromCharCode(...new Uint8Array(data, 0, 4));
}

export function readAnswer(data: ArrayBuffer): { head: Head; arrays: Arrays } {
  const length = new DataView(data).getUint32(4, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 8, length))) as Head;
  const arrays: Arrays = {};
  let at = 8 + length;
  for (const array of head.arrays) {
    const count = array.shape.reduce((product, side) => product * side, 1);
    const values: NumberArray = new KINDS[array.dtype](data, at, count);
    arrays[array.name] = { shape: array.shape, values };
    at += Math.ceil(values.byteLength / 4) * 4;
  }
  return { head, arrays };
}

export function readPose(data: ArrayBuffer): Pose {
  const [live, frame, planted] = new Uint32Array(data, 4, 3);
  return { live, frame, planted, points: new Float32Array(data, 16) };
}
