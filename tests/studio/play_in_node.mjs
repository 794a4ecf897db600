// Plays a table with the wrapper: node play_in_node.mjs MODULE WASM FILE ORDERS OUT. Orders are JSON;
// every pose goes to OUT as bytes, what the table says of itself to standard output.

import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, wasm, file, orders, out] = process.argv.slice(2);
const { open, MotionloomError } = await import(pathToFileURL(module).href);
const { transitions, start, steps, goals } = JSON.parse(readFileSync(orders, "utf-8"));
const table = await open(readFileSync(wasm), readFileSync(file));
const pieces = [];
const keep = ({ root, quats, planted }) => {
  for (const each of [root, quats, planted]) pieces.push(Buffer.from(each.buffer.slice(each.byteOffset, each.byteOffset + each.byteLength)));
};
for (const [from, to] of transitions) keep(table.transition(from, to));
const stream = table.stream(start);
const shown = [];
for (let k = 0; k < steps; k++) {
  if (goals[k]?.hold) stream.hold(goals[k].hold);
  else if (goals[k]?.act) stream.act(goals[k].act);
  else if (goals[k]) stream.go(goals[k]);
  const pose = stream.step();
  keep(pose);
  shown.push([stream.now, stream.doing, stream.inTransition, stream.flawed, stream.framesLeft, stream.madeOf()]);
  if (k === steps - 1) {
    const { positions, rotations } = table.world(pose);
    pieces.push(Buffer.from(positions.buffer), Buffer.from(rotations.buffer));
  }
}
writeFileSync(out, Buffer.concat(pieces));

const faults = {};
const refuse = async (name, act) => {
  try {
    await act();
    faults[name] = "nothing";
  } catch (error) {
    faults[name] = error instanceof MotionloomError ? error.message : `another error: ${error}`;
  }
};
await refuse("clip", () => table.stream({ clip: "nobody", frame: 0 }));
await refuse("frame", () => table.transition({ clip: table.clips[0].name, frame: 1e9 }, { label: table.labels[0] }));
await refuse("half a frame", () => stream.go({ clip: table.clips[0].name, frame: 0.5 }));
await refuse("label", () => stream.go({ label: "fly" }));
await refuse("ground", () => stream.place(NaN, 0, 0));
await refuse("held label", () => stream.hold("fly"));
await refuse("short label", () => stream.hold(table.labels.find((label) => !table.canHold(label)) ?? "fly"));
await refuse("budget", () => stream.think(0.5));
await refuse("patience", () => table.stream(start, { patience: -1 }));
const bytes = new Uint8Array(readFileSync(file));
bytes[bytes.length >> 1] ^= 1;
await refuse("damaged", () => open(readFileSync(wasm), bytes));
await refuse("empty", () => open(readFileSync(wasm), new Uint8Array(0)));
await refuse("no core", () => open(new Uint8Array(8), bytes));

stream.place(0.5, 3, -2);
stream.go(start);
stream.step();
const placed = [...stream.step().root];
stream.close();
stream.close();
await refuse("closed stream", () => stream.step());
// A closed stream's memory is the next one's: many in turn take no more than one.
const memory = () => process.memoryUsage().arrayBuffers;
table.stream(start).close();
const before = memory();
for (let k = 0; k < 200; k++) table.stream(start).close();
const grown = memory() - before;
table.close();
await refuse("closed table", () => table.stream(start));

const { clips, labels, joints, fps, length } = table;
console.log(JSON.stringify({ clips, labels, joints, fps, length, shown, faults, placed, grown }));
