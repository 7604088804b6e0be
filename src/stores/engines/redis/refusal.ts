import { ErrorReply } from "redis";

/** An answer of a server that has done nothing: the command may be sent again, there or elsewhere. */
export type Refusal =
  /** That node has the slot. */
  | { type: "moved"; address: string }
  /** The slot is moving, and its key is not here any more: ask that node, only this time. */
  | { type: "ask"; address: string }
  /** The slot is moving, and only some of the step's keys are here. */
  | { type: "half-moved" }
  /** No node serves the slot at the moment. */
  | { type: "unserved" };

/** null: any other answer, or none at all, after which the outcome is unknown. */
export function refusalIn(error: unknown): Refusal | null {
  if (!(error instanceof ErrorReply)) return null;
  const [word = "", , address = ""] = error.message.split(" ");
  switch (word) {
    case "MOVED":
      return { type: "moved", address };
    case "ASK":
      return { type: "ask", address };
    case "TRYAGAIN":
      return { type: "half-moved" };
    case "CLUSTERDOWN":
    case "LOADING":
    case "READONLY":
      return { type: "unserved" };
    case "ERR":
      // A function that was stopped by this error is completed by the same call (apply.lua).
      return error.message.includes("non local key") ? { type: "half-moved" } : null;
    default:
      return null;
  }
}

/** The server is a replica; a new connection to the same address may lead to the primary. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.startsWith("READONLY");
}

/** The server does not have this version's functions. */
export function isMissingFunction(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.includes("Function not found");
}
