import { defineConfig } from "vite";

// Relative addresses: the page lives below a secret path that is not known when it is built.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // the content policy refuses inlined scripts and styles
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
  },
});
