// Deep links: what differs from a fresh project, in the address after the #. It never goes to a server.

import { FIRST, type Project, type Store } from "./store";

const MOST = 8000; // characters: longer addresses are cut by some programs

type Plain = Record<string, unknown>;
const plain = (value: unknown): value is Plain => typeof value === "object" && value !== null && !Array.isArray(value);

function changes(now: unknown, first: unknown): unknown {
  if (JSON.stringify(now) === JSON.stringify(first)) return undefined;
  if (!plain(now) || !plain(first)) return now;
  return Object.fromEntries(Object.entries(now).flatMap(([name, value]) => {
    const changed = changes(value, first[name]);
    return changed === undefined ? [] : [[name, changed]];
  }));
}

export function linkOf(project: Project): string {
  const told = changes(project, FIRST);
  return told === undefined ? "" : `#${encodeURIComponent(JSON.stringify(told))}`;
}

// The project that the address tells of; null where it tells of none.
export function readLink(hash: string): unknown {
  if (hash.length < 2) return null;
  try {
    const told: unknown = JSON.parse(decodeURIComponent(hash.slice(1)));
    return plain(told) ? { ...told, version: FIRST.version } : null;
  } catch {
    return null;
  }
}

// The address follows the project, without filling the browser's history.
export function followLinks(store: Store): void {
  let timer = 0;
  const write = (): void => {
    const link = linkOf(store.project);
    if (link.length <= MOST && link !== location.hash) history.replaceState(null, "", link || location.pathname + location.search);
  };
  store.listen((project, _scene, before) => {
    if (project === before.project) return;
    clearTimeout(timer);
    timer = window.setTimeout(write, 300);
  });
  // An address typed or pasted into the same page.
  window.addEventListener("hashchange", () => {
    const told = readLink(location.hash);
    if (told && location.hash !== linkOf(store.project)) store.open(told);
  });
}
