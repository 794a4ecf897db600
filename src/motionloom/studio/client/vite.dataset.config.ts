import { defineConfig } from "vite";

// The page of a checked data set: one script and one style sheet, put into the page by
// datasets/summary.py.
export default defineConfig({
  build: {
    outDir: "../static",
    emptyOutDir: false,
    target: "es2022",
    lib: {
      entry: "src/dataset/dataset.ts",
      name: "motionloomDataset",
      formats: ["iife"],
      fileName: () => "dataset.js",
      cssFileName: "dataset",
    },
  },
});
