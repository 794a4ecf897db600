// Bytes of what a file plays in WebAssembly, to the output: node replay.mjs REPLAY.wasm FILE
import { readFileSync, writeSync } from "node:fs";
import { WASI } from "node:wasi";

const [program, path] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1" });
const module = await WebAssembly.compile(readFileSync(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
wasi.initialize(instance);
const { memory, replay, take } = instance.exports;

const file = readFileSync(path);
const place = take(BigInt(file.length));
new Uint8Array(memory.buffer).set(file, place);
const most = replay(BigInt(file.length), place, 0n, 0);
if (most < 0n) throw new Error("The file does not open.");
const out = take(most);
replay(BigInt(file.length), place, most, out);
let rest = new Uint8Array(memory.buffer).slice(out, out + Number(most));
while (rest.length) rest = rest.subarray(writeSync(1, rest));
