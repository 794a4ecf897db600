// Binary messages, as studio/messages/wire.py lays them out.

import { expect, it } from "vitest";
import { magicOf, readAnswer, readPose } from "../src/wire";

it("an answer has its arrays, each at a multiple of four bytes", () => {
  const head = {
    id: 7,
    type: "result",
    arrays: [
      { name: "planted", dtype: "uint8", shape: [3, 1] },
      { name: "points", dtype: "float32", shape: [1, 2] },
    ],
  };
  let text = JSON.stringify(head);
  while (text.length % 4) text += " ";
  const data = new ArrayBuffer(8 + text.length + 4 + 8);
  new Uint8Array(data).set(new TextEncoder().encode(`MLA1`));
  new DataView(data).setUint32(4, text.length, true);
  new Uint8Array(data, 8).set(new TextEncoder().encode(text));
  new Uint8Array(data, 8 + text.length, 3).set([1, 0, 1]);
  new Float32Array(data, 12 + text.length, 2).set([0.5, -2]);
  const read = readAnswer(data);
  expect(magicOf(data)).toBe("MLA1");
  expect(read.head.id).toBe(7);
  expect(read.arrays.planted.shape).toEqual([3, 1]);
  expect([...read.arrays.planted.values]).toEqual([1, 0, 1]);
  expect([...read.arrays.points.values]).toEqual([0.5, -2]);
});

it("a pose has its number, frame, feet and points", () => {
  const data = new ArrayBuffer(16 + 24);
  new Uint32Array(data, 4, 3).set([2, 99, 5]);
  new Float32Array(data, 16).set([1, 2, 3, 4, 5, 6]);
  expect(readPose(data)).toEqual({ live: 2, frame: 99, planted: 5, points: new Float32Array([1, 2, 3, 4, 5, 6]) });
});
