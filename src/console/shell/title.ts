import { printable } from "../../client/core/printable.ts";

/** The tab's title: how many conversations are new, then the room. */
let room = "";
let fresh = 0;

export function nameRoom(name: string): void {
  // A room may be named by a stranger.
  room = printable(name);
  write();
}

export function tellFresh(count: number): void {
  fresh = count;
  write();
}

function write(): void {
  document.title = `${fresh > 0 ? `(${fresh}) ` : ""}${room === "" ? "" : `${room} · `}Console`;
}
