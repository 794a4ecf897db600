// Deep links: what differs from a fresh project, in the address after the #. It never goes to a server.

import { type Checked, checkProject, reportOf } from "./projectcheck";
import { FIRST, type Project, type Store } from "./store";

const MOST = 8000; // characters: longer addresses are cut by some programs

type Plain = Record<string, unknown>;
const plain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);

function changes(now: unknown, first: unknown): unknown {
  if (JSON.stringify(now) === JSON.stringify(first)) return undefined;
  if (!plain(now) || !plain(first)) return now;
  return Object.fromEntries(
    Object.entries(now).flatMap(([name, value]) => {
      const part = changes(value, first[name]);
      return part === undefined ? [] : [[name, part]];
    }),
  );
}

export function linkOf(project: Project): string {
  const changed = changes(project, FIRST);
  return changed === undefined ? "" : `#${encodeURIComponent(JSON.stringify(changed))}`;
}

// The project of an address; null where it has none.
export function readLink(hash: string, library: Set<string>): Checked | null {
  if (hash.length < 2) return null;
  try {
    const outside: unknown = JSON.parse(decodeURIComponent(hash.slice(1)));
    if (plain(outside)) return checkProject({ ...outside, version: FIRST.version }, library);
  } catch {
    /* reported below */
  }
  return { project: FIRST, problems: ["the part after # is cut or damaged: copy the whole link again"] };
}

export function reportLink(store: Store, checked: Checked): void {
  if (checked.problems.length) store.fail("link", reportOf("this link", checked));
  else store.clear("link");
}

export function knownClips(store: Store): Set<string> {
  return new Set(store.scene.library.items.map(({ id }) => id));
}

// The address follows the project, without filling the browser's history.
export function followLinks(store: Store): void {
  let timer = 0;
  const write = (): void => {
    const link = linkOf(store.project);
    if (link.length <= MOST && link !== location.hash)
      history.replaceState(null, "", link || location.pathname + location.search);
  };
  store.listen((project, _scene, before) => {
    if (project === before.project) return;
    clearTimeout(timer);
    timer = window.setTimeout(write, 300);
  });
  // An address typed or pasted into the same page. It is read from the event: `write` may have replaced it since.
  window.addEventListener("hashchange", ({ newURL }) => {
    const { hash } = new URL(newURL);
    if (hash === linkOf(store.project)) return;
    const read = readLink(hash, knownClips(store));
    if (!read) return;
    // A link that cannot be read at all changes nothing.
    if (read.project !== FIRST) store.open(read.project);
    reportLink(store, read);
  });
}
