// The one socket: requests out, answers back by their number, poses as they come.

import type { Answers, Arrays, Pose, Requests, Steer } from "./messages";
import { magicOf, readAnswer, readPose } from "./wire";

export interface Answered<T> { body: T; arrays: Arrays }

export interface Api {
  ask<K extends keyof Requests>(type: K, body: Requests[K]): Promise<Answered<Answers[K]>>;
  // A few frames on in a live blend; resolves with the pose there.
  step(live: number, to: Steer, frames: number, record: boolean): Promise<Pose>;
  // A few frames on of a live character of a table.
  streamStep(live: number, frames: number): Promise<Pose>;
  upload(file: File): Promise<string>;
}

// What the server refused, in its own words.
export class Refused extends Error {}

interface Waiting {
  done(answer: Answered<never>): void;
  failed(error: Error): void;
}

export function connect(onState: (open: boolean) => void): Api {
  const address = new URL("socket", location.href);
  address.protocol = "ws:";
  address.hash = "";
  let socket: WebSocket;
  let ready: Promise<void>;
  let opened: () => void;
  let last = 0;
  const waiting = new Map<number, Waiting>();
  const poses: { done(pose: Pose): void; failed(error: Error): void; id: number }[] = [];

  const gone = (): Refused => new Refused("The studio's server is not there. If it was ended, start it again: your settings are kept.");

  // Requests wait for the next socket from the moment that the last one closes.
  function wait(): void {
    ready = new Promise((done) => { opened = done; });
  }

  function open(): void {
    socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => { opened(); onState(true); });
    socket.addEventListener("message", (event) => receive(event.data as string | ArrayBuffer));
    socket.addEventListener("close", () => {
      wait();
      const asked = [...waiting.values(), ...poses];
      waiting.clear();
      poses.length = 0;
      onState(false);
      for (const each of asked) each.failed(gone());
      setTimeout(open, 1500);
    });
  }

  function receive(data: string | ArrayBuffer): void {
    if (typeof data === "string") {
      const body = JSON.parse(data) as { id: number; type: string; text: string };
      settle(body.id, body.type === "error" ? new Refused(body.text) : { body, arrays: {} });
    } else if (magicOf(data) === "MLP1") {
      poses.shift()?.done(readPose(data));
    } else {
      const { head, arrays } = readAnswer(data);
      settle(head.id, { body: head, arrays });
    }
  }

  function settle(id: number, said: Error | { body: unknown; arrays: Arrays }): void {
    const live = poses.findIndex((each) => each.id === id);
    if (live >= 0 && said instanceof Error) {
      poses.splice(live, 1)[0].failed(said);
      return;
    }
    const asked = waiting.get(id);
    waiting.delete(id);
    if (said instanceof Error) asked?.failed(said);
    else asked?.done(said as Answered<never>);
  }

  // A live blend is the server's: with another socket it is over.
  function step(body: object): Promise<Pose> {
    const id = ++last;
    if (socket.readyState !== WebSocket.OPEN) return Promise.reject(gone());
    return new Promise((done, failed) => {
      poses.push({ done, failed, id });
      socket.send(JSON.stringify({ id, ...body }));
    });
  }

  wait();
  open();
  return {
    async ask(type, body) {
      await ready;
      const id = ++last;
      return new Promise((done, failed) => {
        waiting.set(id, { done, failed } as Waiting);
        socket.send(JSON.stringify({ type, id, ...body }));
      });
    },
    step: (live, to, frames, record) => step({ type: "control.step", live, frames, record, ...to }),
    streamStep: (live, frames) => step({ type: "stream.step", live, frames }),
    async upload(file) {
      const said = await fetch(`upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      const body = (await said.json()) as { id: string; text?: string };
      if (!said.ok) throw new Refused(body.text ?? "The file could not be added.");
      return body.id;
    },
  };
}
