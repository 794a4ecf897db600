// Requests to the server and its answers, matched by their number; poses and unasked messages.

import { Cancelled, Gone, Refused } from "./faults";
import type { Answers, Arrays, Item, Pose, Pushed, Requests, Steer } from "./messages";
import { type Connection, openLine } from "./socket";
import { type Report, type Task, Tasks } from "./tasks";
import { magicOf, readAnswer, readPose } from "./wire";

export interface Answered<T> {
  body: T;
  arrays: Arrays;
}

export interface Api {
  ask<K extends keyof Requests>(type: K, body: Requests[K]): Promise<Answered<Answers[K]>>;
  // A few frames on in a live blend; resolves with the pose there.
  step(live: number, to: Steer, frames: number, record: boolean): Promise<Pose>;
  // A few frames on of a live character of a table.
  streamStep(live: number, frames: number): Promise<Pose>;
  // The clips that were in the file.
  upload(file: File): Promise<Item[]>;
  // Try to connect now.
  retry(): void;
  // The server takes `cancel`; older ones do not.
  canCancel: boolean;
}

export interface Watchers {
  connection(now: Connection): void;
  tasks(now: Task[]): void;
  pushed(message: Pushed): void;
}

interface Waiting {
  type: string;
  done(answer: Answered<never>): void;
  failed(error: Error): void;
}

interface Head {
  id: number;
  type: string;
  text?: string;
  cancelled?: boolean;
}

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
    const asked = [...waiting].map(([id, { type, failed }]) => ({ id, type, failed }));
    const stepped = poses.splice(0);
    waiting.clear();
    for (const { id, type } of asked) tasks.end(id, type);
    for (const each of [...asked, ...stepped]) each.failed(new Gone());
  }

  function receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      if (magicOf(data) === "MLP1") poses.shift()?.done(readPose(data));
      else {
        const { head, arrays } = readAnswer(data);
        settle(head.id, { body: head, arrays });
      }
      return;
    }
    const body = JSON.parse(data) as Head;
    if (body.type === "progress") tasks.report(body.id, body as unknown as Report);
    else if (body.type === "library.changed") watchers.pushed(body as unknown as Pushed);
    else if (body.type === "error") settle(body.id, body.cancelled ? new Cancelled(body.text) : new Refused(body.text));
    else settle(body.id, { body, arrays: {} });
  }

  function settle(id: number, outcome: Error | { body: unknown; arrays: Arrays }): void {
    const step = poses.findIndex((each) => each.id === id);
    if (step >= 0 && outcome instanceof Error) {
      poses.splice(step, 1)[0].failed(outcome);
      return;
    }
    const asked = waiting.get(id);
    if (!asked) return;
    waiting.delete(id);
    tasks.end(id, asked.type);
    if (outcome instanceof Error) asked.failed(outcome);
    else asked.done(outcome as Answered<never>);
  }

  async function ask<K extends keyof Requests>(type: K, body: Requests[K]): Promise<Answered<Answers[K]>> {
    await line.opened();
    const id = ++last;
    return new Promise((done, failed) => {
      waiting.set(id, { type, done, failed } as Waiting);
      tasks.begin(id, type, api.canCancel ? () => void ask("cancel", { request: id }).catch(() => undefined) : null);
      line.send(JSON.stringify({ type, id, ...body }));
    });
  }

  // A live blend belongs to its socket: with another one it is over.
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
    canCancel: false,
  };
  return api;
}
