import { defineConfig } from "vite";

// The wrapper of the core as a module of plain JavaScript, for pages of other people.
export default defineConfig({
  build: {
    outDir: "../static",
    emptyOutDir: false,
    target: "es2022",
    minify: false,
    lib: { entry: "../../../../runtimes/web/motionloom.ts", formats: ["es"], fileName: () => "motionloom.mjs" },
  },
});
