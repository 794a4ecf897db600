// The project as a file: the browser saves it, a button opens it again.

import { button, download, make } from "./dom";
import { knownClips } from "./links";
import { checkProject, reportOf } from "./projectcheck";
import type { Mount } from "./tools";

const SUFFIX = ".motionloom.json";
const MOST_BYTES = 2_000_000; // the most that the server keeps

export const mountProjectFile: Mount = (within, { store }) => {
  const pick = make("input", {
    attrs: { type: "file", accept: `${SUFFIX},application/json`, "aria-label": "project file" },
    on: {
      change: () => {
        const file = pick.files?.[0];
        if (file) void open(file);
        pick.value = "";
      },
    },
  });
  pick.hidden = true;
  within.append(
    button("Open", "open a project file; undo returns to this one", () => pick.click()),
    pick,
    button("Save", "save the project as a file", save),
  );

  function save(): void {
    const address = URL.createObjectURL(
      new Blob([JSON.stringify(store.project, null, 1)], { type: "application/json" }),
    );
    const { tab, a, b } = store.project;
    const name = [tab, a, b]
      .filter(Boolean)
      .join("-")
      .replace(/[^\w.-]+/g, "_");
    download(address, `${name}${SUFFIX}`);
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  async function open(file: File): Promise<void> {
    const read = await readProject(file);
    if (typeof read === "string") {
      store.fail("project", `${file.name} cannot be opened: ${read}. Choose a project that the studio saved.`);
      return;
    }
    const checked = checkProject(read, knownClips(store));
    store.open(checked.project);
    if (checked.problems.length) store.fail("project", reportOf(file.name, checked));
    else store.clear("project", "link");
  }
};

// The content of the file, or why it is not a project.
async function readProject(file: File): Promise<object | string> {
  if (file.size > MOST_BYTES)
    return `it must have at most ${MOST_BYTES / 1e6} MB, got ${(file.size / 1e6).toFixed(1)} MB`;
  try {
    const content = JSON.parse(await file.text()) as { version?: unknown } | null;
    if (content === null || typeof content !== "object" || Array.isArray(content))
      return "it must hold a project, and holds something else";
    return content.version === 1 ? content : `its version must be 1, got ${JSON.stringify(content.version) ?? "none"}`;
  } catch {
    return "it must be JSON";
  }
}
