import { ErrorReply } from "redis";

/** What a server answers that has done nothing: the command may be sent again, there or elsewhere. */
export type Refusal =
  /** The slot is that node's. */
  | { type: "moved"; address: string }
  /** The slot is moving, and its key is not here any more: ask that node, this once. */
  | { type: "ask"; address: string }
  /** The slot is moving, and some of the step's keys are here, and some are not. */
  | { type: "half-moved" }
  /** Nobody serves the slot just now. */
  | { type: "unserved" };

/** null: an answer of another kind, or none at all, after which nobody knows what was done. */
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
      // A function that was stopped so, the same call completes (functions/shared.lua).
      return error.message.includes("non local key") ? { type: "half-moved" } : null;
    default:
      return null;
  }
}

/** A replica: what was its primary may be at the same address by another connection. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.startsWith("READONLY");
}

/** The server does not have this version's functions. */
export function isMissingFunction(error: unknown): boolean {
  return error instanceof ErrorReply && error.message.includes("Function not found");
}
