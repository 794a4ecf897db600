// Undo and redo, drags as one step, errors by cause.

import { describe, expect, it } from "vitest";
import { Gone } from "../src/faults";
import { FIRST, MOST_UNDO, type Project, Store } from "../src/store";

const named = (a: string): Partial<Project> => ({ a });

describe("undo", () => {
  it("takes back every change, and redo brings each again", () => {
    const store = new Store();
    const seen = [store.project];
    for (const name of ["walk", "run", "wave"]) {
      store.commit("", named(name));
      seen.push(store.project);
    }
    for (const before of seen.slice(0, -1).reverse()) {
      store.undo();
      expect(store.project).toBe(before);
    }
    expect(store.canUndo).toBe(false);
    for (const after of seen.slice(1)) {
      store.redo();
      expect(store.project).toBe(after);
    }
    expect(store.canRedo).toBe(false);
  });

  it("takes a drag back as one step, and the next drag is another", () => {
    const store = new Store();
    for (const length_s of [0.5, 0.4, 0.3]) store.commit("bracket", { transition: { ...FIRST.transition, length_s } });
    store.endDrag();
    store.commit("bracket", { transition: { ...FIRST.transition, length_s: 0.2 } });
    store.undo();
    expect(store.project.transition.length_s).toBe(0.3);
    store.undo();
    expect(store.project).toBe(FIRST);
  });

  it("forgets what was undone when something new is done", () => {
    const store = new Store();
    store.commit("", named("walk"));
    store.undo();
    store.commit("", named("run"));
    store.redo();
    expect(store.project.a).toBe("run");
  });

  it("keeps so many steps, the newest ones", () => {
    const store = new Store();
    for (let n = 0; n <= MOST_UNDO + 5; n++) store.commit("", named(`${n}`));
    let steps = 0;
    for (; store.canUndo; steps++) store.undo();
    expect(steps).toBe(MOST_UNDO);
    expect(store.project.a).toBe("5");
  });

  it("can take back a project that was opened, not one that was loaded", () => {
    const store = new Store();
    store.load({ ...FIRST, a: "walk" });
    expect(store.canUndo).toBe(false);
    store.open({ ...FIRST, a: "run" });
    store.undo();
    expect(store.project.a).toBe("walk");
  });
});

describe("errors", () => {
  it("stand once for each cause, and go by cause or by its beginning", () => {
    const store = new Store();
    store.fail("clip:walk", new Error("first"));
    store.fail("clip:walk", new Error("again"));
    store.fail("link", new Error("other"));
    expect(store.scene.faults.map(({ cause, text }) => [cause, text])).toEqual([
      ["clip:walk", "again"],
      ["link", "other"],
    ]);
    store.clear("clip:");
    expect(store.scene.faults.map(({ cause }) => cause)).toEqual(["link"]);
  });

  it("are not shown for requests that nobody waits for any more", () => {
    const store = new Store();
    store.fail("link", new Gone());
    expect(store.scene.faults).toEqual([]);
  });
});

it("listeners see the state before and after, until they leave", () => {
  const store = new Store();
  const seen: (string | null)[][] = [];
  const leave = store.listen((project, _scene, before) => seen.push([before.project.a, project.a]));
  store.commit("", named("walk"));
  leave();
  store.commit("", named("run"));
  expect(seen).toEqual([[null, "walk"]]);
});
