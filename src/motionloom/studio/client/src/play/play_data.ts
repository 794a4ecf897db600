// What studio/play_page.py puts into the page: the core, the table's file, and how the body is drawn.

import type { Looks } from "../messages";

export interface PlayData {
  title: string;
  looks: Looks;
  joints: number[]; // (P) joint that carries each point of the body
  offsets: number[]; // (P, 3) where it is in that joint
  labels: Record<string, [label: string, first: number, last: number][]>; // by clip
  start: { clip: string; frame: number };
  packed: "gzip" | "plain";
}

function textOf(id: string): string {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page lacks its ${id}`);
  return element.textContent ?? "";
}

function bytesOf(id: string): Uint8Array<ArrayBuffer> {
  const text = atob(textOf(id));
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes;
}

async function unpack(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser is too old for its data. Export the page with --plain");
  }
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

export async function readData(): Promise<{
  data: PlayData;
  wasm: Uint8Array<ArrayBuffer>;
  file: Uint8Array<ArrayBuffer>;
}> {
  const data = JSON.parse(textOf("play-data")) as PlayData;
  const read = async (id: string): Promise<Uint8Array<ArrayBuffer>> =>
    data.packed === "gzip" ? unpack(bytesOf(id)) : bytesOf(id);
  const [wasm, file] = await Promise.all([read("play-wasm"), read("play-file")]);
  return { data, wasm, file };
}
