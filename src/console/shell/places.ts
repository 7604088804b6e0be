import type { Me } from "../service/views.ts";
import { mayOf } from "./console-context.ts";
import { linkTo } from "./route.ts";

/** A room of the console in its navigation. */
export interface Place {
  name: string;
  link: string;
  /** Pressed after `g`. */
  letter: string;
  /** Is this the room of an address's path? */
  has: (path: readonly string[]) => boolean;
}

/** The rooms that this operator may enter. */
export function placesOf(me: Me): Place[] {
  const may = mayOf(me);
  const place = (name: string, letter: string, has: Place["has"], ...path: string[]): Place => ({
    name,
    letter,
    link: linkTo(path),
    has,
  });
  const isIn = (room: string) => (path: readonly string[]) => path[0] === room;
  const within = (room: string) => (path: readonly string[]) => path[0] === "channels" && path[2] === room;
  return [
    place("Overview", "o", (path) => path.length === 0),
    place("Inbox", "i", (path) => isIn("inbox")(path) || within("threads")(path), "inbox"),
    place("Users", "u", (path) => isIn("users")(path) || within("users")(path), "users"),
    place(
      "Channels",
      "c",
      (path) =>
        isIn("new-channel")(path) ||
        within("webhooks")(path) ||
        within("documents")(path) ||
        (path[0] === "channels" && path.length <= 2),
      "channels",
    ),
    ...(may.seeAddresses ? [place("Addresses", "d", isIn("addresses"), "addresses")] : []),
    ...(may.manageOperators ? [place("Operators", "p", isIn("operators"), "operators")] : []),
    ...(may.readAudit ? [place("Audit", "a", isIn("audit"), "audit")] : []),
  ];
}
