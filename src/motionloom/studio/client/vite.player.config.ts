import { defineConfig } from "vite";

// The player of single pages: one script and one style sheet, put into the page by drawing/page.py.
export default defineConfig({
  build: {
    outDir: "../static",
    emptyOutDir: false,
    target: "es2022",
    lib: {
      entry: "src/player/player.ts",
      name: "motionloomPlayer",
      formats: ["iife"],
      fileName: () => "player.js",
      cssFileName: "player",
    },
  },
});
