// The banner of a lost connection: what happened, how to start the server again, when the page tries
// next.

import { button, make } from "./dom";
import type { Tools } from "./tools";

export function mountConnection({ store, api, clock }: Tools): void {
  const command = make("code");
  const start = make("span", {}, " Start it again with ", command);
  const copy = button(
    "copy",
    "copy the command",
    () => void navigator.clipboard.writeText(command.textContent ?? ""),
    "small",
  );
  const next = make("span", { class: "reconnect" });
  const retry = button("Try now", "connect now", () => api.retry(), "small");
  const banner = make(
    "div",
    { class: "connection", attrs: { role: "alert" } },
    make("strong", {}, "The server is not running."),
    start,
    copy,
    next,
    retry,
  );
  banner.hidden = true;
  document.body.append(banner);
  let seen = false; // a page that never was connected is still loading

  function draw(): void {
    const { connection, command: line } = store.scene;
    seen ||= connection.state === "open";
    banner.hidden = connection.state !== "lost" || !seen;
    if (banner.hidden) return;
    const text = line ?? "motionloom studio";
    if (command.textContent !== text) command.textContent = text;
    const left =
      connection.retryAt === null ? null : Math.max(1, Math.ceil((connection.retryAt - performance.now()) / 1000));
    const words = left === null ? "Reconnecting ..." : `Reconnecting in ${left} s.`;
    if (next.textContent !== words) next.textContent = words;
  }
  store.listen((_project, scene, before) => {
    if (scene.connection !== before.scene.connection) draw();
  });
  clock.onTick(() => {
    if (!banner.hidden) draw();
  });
}
