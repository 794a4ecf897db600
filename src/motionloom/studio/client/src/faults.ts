// What can go wrong, and what a user can do about it.

// The server refused a request; the text comes from the server.
export class Refused extends Error {}

// The user cancelled the request.
export class Cancelled extends Refused {}

// The socket closed before the answer came. The connection banner reports it, so no panel does.
export class Gone extends Refused {
  constructor() {
    super("The server is not running.");
  }
}

// A message that the page shows until its cause is gone or the user closes it.
export interface Fault {
  cause: string; // one message per cause: a newer one replaces it
  text: string;
  action?: { text: string; press(): void };
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
