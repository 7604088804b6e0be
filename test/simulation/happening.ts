import type { Catalog, UserMessage } from "../../src/domain/threads/message.ts";
import type { Turn } from "../../src/agent.ts";
import type { Deletion, ThreadCommit } from "../../src/store.ts";
import type { Call } from "../../machines/run.ts";
import type { Exchange } from "./clients/exchange.ts";
import type { Thought } from "./instance/agent.ts";
import type { StoreNode, Where } from "./store/node.ts";

/** What a step of the store did, as soon as it is done. */
export type StoreEffect =
  | { type: "committed"; uid: string; by: string; commit: ThreadCommit }
  | { type: "waited"; uid: string; message: UserMessage }
  | { type: "part kept"; uid: string; part: KeptPart }
  | { type: "catalog set"; uid: string; catalog: Catalog }
  | { type: "erased"; uid: string; by: string }
  | { type: "deletion"; step: "planned" | "ended"; deletion: Deletion; by: string }
  | { type: "thread listed"; uid: string; slug: string; userId: string; atMs: number }
  | { type: "thread unlisted"; uid: string }
  /** An anonymous user is there; is deleted, or is an account's user from now on, as an account's may be deleted. */
  | { type: "user came"; slug: string; userId: string }
  | { type: "user left"; left: UserLeft }
  /** A token of a user who is about to be deleted: nobody comes in with it any more. */
  | { type: "token erased"; userId: string };

/** What the checker is told, as it happens. */
export type Happening =
  | (StoreEffect & { where: Where })
  /** The process hears what came of its commit. */
  | { type: "commit heard"; opId: string }
  | { type: "rest looked for"; look: RestLook }
  /** Retention begins to look whether a user is past its date. */
  | { type: "user looked at"; userId: string; by: string; nowMs: number }
  /** The writes of a node after the first `kept` ones are gone. */
  | { type: "writes lost"; node: StoreNode; kept: number }
  /** What stragglers wrote to a node is gone. */
  | { type: "stragglers back"; node: StoreNode }
  /** A client sends a request; an instance begins to work on it; the instance answers its status; the client hears it. */
  | { type: "asked"; exchange: Exchange }
  | { type: "begun"; exchange: Exchange }
  | { type: "answered"; exchange: Exchange; status: number }
  | { type: "heard"; exchange: Exchange; status: number }
  /** A client has heard the last of an answer, whole or cut. */
  | { type: "closed"; exchange: Exchange }
  /** An instance is asked for a cancel, and has looked for the run that it ends. `readAtMs`: when the store was read; null: it was not. */
  | { type: "cancel begun"; cancel: Cancel }
  | { type: "cancel ended"; cancel: Cancel }
  /** A model is asked, or a server-side tool is called. */
  | { type: "model asked"; by: string; turn: Turn; thought: Thought }
  | { type: "tool called"; by: string; call: Call }
  /** Something that no fault excuses: an error in the log, a rejection that nobody took. `uid`: a thread whose key is gone. */
  | { type: "fault"; by: string; uid: string | null; text: string };

/** `was`: the user just before, and whether somebody could come in as it; null: nobody was deleted. */
export interface UserLeft {
  slug: string;
  userId: string;
  uids: readonly string[];
  was: { externalId: string | null; hadToken: boolean } | null;
}

/** A process looks for threads that are past their date. `nowMs`: by its clock. */
export interface RestLook {
  by: string;
  slug: string;
  untilMs: number;
  nowMs: number;
}

export interface KeptPart {
  uid: string;
  fence: string;
  runId: string;
  nth: number;
  text: string;
}

/** One call of `threads.cancel`. */
export interface Cancel {
  uid: string;
  by: string;
  begunAtMs: number;
  /** When its reading of the thread took place; null: it read nothing, or not yet. */
  readAtMs: number | null;
  /** It reads the thread before it acts. */
  reads: boolean;
}
