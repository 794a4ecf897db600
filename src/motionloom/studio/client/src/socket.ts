// The socket to the server: opened again with growing pauses whenever it closes.

const PAUSES_S = [1, 2, 3, 5, 8, 10];

export interface Connection {
  state: "connecting" | "open" | "lost";
  // When the next attempt starts, on the clock of performance.now(); null while one runs.
  retryAt: number | null;
}

export interface Events {
  changed(now: Connection): void;
  received(data: string | ArrayBuffer): void;
  closed(): void;
}

export interface Line {
  readonly isOpen: boolean;
  // Resolves as soon as a socket is open.
  opened(): Promise<void>;
  send(text: string): void;
  // Try now instead of after the pause.
  retry(): void;
}

export function openLine(address: URL, events: Events): Line {
  let socket: WebSocket;
  let [failures, timer] = [0, 0];
  let ready: Promise<void>;
  let release: () => void;

  function hold(): void {
    ready = new Promise((done) => {
      release = done;
    });
  }

  function open(): void {
    clearTimeout(timer);
    timer = 0;
    events.changed({ state: failures ? "lost" : "connecting", retryAt: null });
    const own = new WebSocket(address);
    socket = own;
    own.binaryType = "arraybuffer";
    own.addEventListener("open", () => {
      failures = 0;
      release();
      events.changed({ state: "open", retryAt: null });
    });
    own.addEventListener("message", (event) => events.received(event.data as string | ArrayBuffer));
    own.addEventListener("close", () => {
      const pause = 1000 * PAUSES_S[Math.min(failures++, PAUSES_S.length - 1)];
      hold();
      timer = window.setTimeout(open, pause);
      events.changed({ state: "lost", retryAt: performance.now() + pause });
      events.closed();
    });
  }

  function retry(): void {
    if (timer) open();
  }

  // A laptop that wakes up, or a tab that comes to the front, does not wait for the pause.
  window.addEventListener("online", retry);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) retry();
  });
  hold();
  open();
  return {
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    opened: () => ready,
    send: (text) => socket.send(text),
    retry,
  };
}
