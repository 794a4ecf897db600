import { defineConfig } from "vite";

// The page in which a live character is steered: one script and one style sheet, put into the page by
// studio/play_page.py.
export default defineConfig({
  build: {
    outDir: "../static",
    emptyOutDir: false,
    target: "es2022",
    lib: {
      entry: "src/play/play.ts",
      name: "motionloomPlay",
      formats: ["iife"],
      fileName: () => "play.js",
      cssFileName: "play",
    },
  },
});
