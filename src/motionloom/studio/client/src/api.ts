// Requests to the server and its answers, matched by their number; poses and news.

import { Cancelled, Gone, Refused } from "./faults";
import type { Answers, ErrorNotice, Item, LibraryChanged, ProgressNotice, Requests } from "./messages";
import { type Connection, openLine } from "./socket";
import { type Task, Tasks } from "./tasks";
import { type Arrays, magicOf, type Pose, readAnswer, readPose } from "./wire";

export interface Answered<T> {
  body: T;
  arrays: Arrays;
}

// Target of a live blend: weights or parameters, one of them.
export interface Steer {
  weights?: number[];
  parameters?: Record<string, number>;
}

export interface Api {
  ask<K extends keyof Answers>(type: K, body: Requests[K]): Promise<Answered<Answers[K]>>;
  // A few frames later in a live blend; resolves with the pose.
  step(live: number, to: Steer, frames: number, record: boolean): Promise<Pose>;
  // A few frames later of a live character of a table.
  streamStep(live: number, frames: number): Promise<Pose>;
  // The clips that were in the file.
  upload(file: File): Promise<Item[]>;
  // Try to connect now.
  retry(): void;
}

export interface Watchers {
  connection(now: Connection): void;
  tasks(now: Task[]): void;
  pushed(message: LibraryChanged): void;
}

interface Waiting {
  type: string;
  done(answer: Answered<never>): void;
  failed(error: Error): void;
}

type Head = { id: number; type: string } & Partial<ErrorNotice>;

export function connect(watchers: Watchers): Api {
  const address = new URL("socket", location.href);
  address.protocol = "ws:";
  address.hash = "";
  let last = 0;
  const waiting = new Map<number, Waiting>();
  const poses: { id: number; done(pose: Pose): void; failed(error: Error): void }[] = [];
  const tasks = new Tasks(watchers.tasks);
  const line = openLine(address, { changed: watchers.connection, received: receive, closed: failAll });

  function failAll(): void {
    const requests = [...waiting].map(([id, { type, failed }]) => ({ id, type, failed }));
    const stepped = poses.splice(0);
    waiting.clear();
    for (const { id, type } of requests) tasks.end(id, type);
    for (const each of [...requests, ...stepped]) each.failed(new Gone());
  }

  function receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      if (magicOf(data) === "MLP1") poses.shift()?.done(readPose(data));
      else {
        const { head, arrays } = readAnswer(data);
        finish(head.id, { body: head, arrays });
      }
      return;
    }
    const body = JSON.parse(data) as Head;
    if (body.type === "progress") tasks.report(body.id, body as unknown as ProgressNotice);
    else if (body.type === "library.changed") watchers.pushed(body as unknown as LibraryChanged);
    else if (body.type === "error") finish(body.id, body.cancelled ? new Cancelled(body.text) : new Refused(body.text));
    else finish(body.id, { body, arrays: {} });
  }

  function finish(id: number, outcome: Error | { body: unknown; arrays: Arrays }): void {
    const step = poses.findIndex((each) => each.id === id);
    if (step >= 0 && outcome instanceof Error) {
      poses.splice(step, 1)[0].failed(outcome);
      return;
    }
    const request = waiting.get(id);
    if (!request) return;
    waiting.delete(id);
    tasks.end(id, request.type);
    if (outcome instanceof Error) request.failed(outcome);
    else request.done(outcome as Answered<never>);
  }

  async function ask<K extends keyof Answers>(type: K, body: Requests[K]): Promise<Answered<Answers[K]>> {
    await line.opened();
    const id = ++last;
    return new Promise((done, failed) => {
      waiting.set(id, { type, done, failed } as Waiting);
      tasks.begin(id, type, () => void ask("cancel", { request: id }).catch(() => undefined));
      line.send(JSON.stringify({ type, id, ...body }));
    });
  }

  // A live blend belongs to its socket and ends with it.
  function step(body: object): Promise<Pose> {
    const id = ++last;
    if (!line.isOpen) return Promise.reject(new Gone());
    return new Promise((done, failed) => {
      poses.push({ done, failed, id });
      line.send(JSON.stringify({ id, ...body }));
    });
  }

  async function upload(file: File): Promise<Item[]> {
    const id = ++last;
    const stop = new AbortController();
    tasks.begin(id, "upload", () => stop.abort());
    try {
      const answer = await fetch(`upload?name=${encodeURIComponent(file.name)}`, {
        method: "POST",
        body: file,
        signal: stop.signal,
      });
      const body = (await answer.json()) as Item & { items?: Item[]; text?: string };
      if (!answer.ok) throw new Refused(body.text ?? `${file.name} could not be read.`);
      return body.items ?? [body];
    } catch (error) {
      if (stop.signal.aborted) throw new Cancelled(`Reading ${file.name} was cancelled.`);
      throw error instanceof Refused ? error : new Refused(`${file.name} could not be sent: is the server running?`);
    } finally {
      tasks.end(id, "upload");
    }
  }

  const api: Api = {
    ask,
    upload,
    step: (live, to, frames, record) => step({ type: "control.step", live, frames, record, ...to }),
    streamStep: (live, frames) => step({ type: "stream.step", live, frames }),
    retry: () => line.retry(),
  };
  return api;
}
