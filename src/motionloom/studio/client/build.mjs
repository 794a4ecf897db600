// Bundles the page: node build.mjs. All of it goes to ../static.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { build } from "esbuild";

const OUT = "../static";
const COMMON = { bundle: true, minify: true, target: "es2022", logLevel: "warning", legalComments: "none" };

// The studio: names with a digest, for the server lets browsers keep them. Its content policy refuses inlined
// scripts and styles. Addresses are relative: the page lives below a secret path that is not known here.
async function studio() {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: { index: "src/main.ts" },
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    format: "esm",
    splitting: true,
    metafile: true,
    outdir: `${OUT}/assets`,
  });
  const made = Object.keys(metafile.outputs).map((path) => basename(path));
  const [script, style] = ["js", "css"].map((kind) => made.find((name) => name.match(`^index-.*\\.${kind}$`)));
  const page = await readFile("index.html", "utf8");
  const source = '<script type="module" src="/src/main.ts"></script>';
  if (!page.includes(source)) throw new Error(`index.html must load its script by ${source}`);
  const loaded =
    `<script type="module" crossorigin src="./assets/${script}"></script>\n` +
    `    <link rel="stylesheet" crossorigin href="./assets/${style}">`;
  await writeFile(`${OUT}/index.html`, page.replace(source, loaded));
}

// One script and one style sheet each, put into pages of their own by drawing/page.py (the player of a clip),
// studio/play_page.py (a live character) and datasets (a checked data set).
function pages() {
  return build({
    ...COMMON,
    entryPoints: { player: "src/player/player.ts", play: "src/play/play.ts", dataset: "src/dataset/dataset.ts" },
    format: "iife",
    outdir: OUT,
  });
}

// The wrapper of the core as a module of plain JavaScript, for pages of other people.
function wrapper() {
  return build({
    ...COMMON,
    minify: false,
    entryPoints: { motionloom: "../../../../runtimes/web/motionloom.ts" },
    format: "esm",
    outExtension: { ".js": ".mjs" },
    outdir: OUT,
  });
}

await rm(OUT, { recursive: true, force: true });
await mkdir(OUT, { recursive: true });
await Promise.all([studio(), pages(), wrapper()]);
