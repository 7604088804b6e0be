import type { HandedBack } from "../machines/person.ts";
import type { Call, RefusedCall, Usage } from "../machines/run.ts";
import type { Attachment } from "./domain/attachments.ts";
import type { Api, Catalog, Message, RunRecord, TurnItem } from "./domain/message.ts";
import type { Wrote } from "./model.ts";

/**
 * The agent contract: one model turn, or one call of a server-side tool. No HTTP, no store: what it needs comes in,
 * what it decided goes out. Kept by agent/turn.ts.
 */
export interface Turn {
  /** Whose instructions, model and MCP servers. */
  slug: string;
  /** The active run; `run.turns` is what the model saw and said in it so far. */
  run: RunRecord;
  /** The text that the run answers. */
  text: string;
  /** What came with that text. */
  attachments?: Attachment[];
  /** A person had the thread before that text, and gave it back. */
  handedBack?: HandedBack;
  /** By run: the kept images (data: URLs) of the messages that the model is to see with them; absent: none. */
  images?: ReadonlyMap<string, readonly string[]>;
  /** The history before the run, oldest first. */
  before: Message[];
  /** The thread's page tools; offered on the widget API alone. */
  catalog: Catalog;
  /** What the run's earlier turns used, as the model server reported it; absent or null: estimated from `run.turns`. */
  usage?: Usage | null;
  /** W3C trace context of the request that began this, or of the run's active segment; null: none. */
  traceparent: string | null;
}

export type TurnEnd =
  /** `finishReason`: only where the model did not end of itself. */
  | { type: "finished"; item: TurnItem; usage: Usage | null; finishReason?: string }
  /** The run ends without a word: why, for the visitor. */
  | { type: "saidNothing"; item: TurnItem; message: string; usage: Usage | null }
  /** The model called tools; each call is resolved and checked, or refused with a reason for the model. */
  | { type: "called"; item: TurnItem; calls: (Call | RefusedCall)[]; usage: Usage | null }
  /** The model called `task_failed`. */
  | { type: "gaveUp"; item: TurnItem; reason: string; usage: Usage | null }
  /** The model called `hand_off`: a person is to answer. */
  | { type: "handedOff"; item: TurnItem; reason: string | null; summary: string | null; usage: Usage | null }
  /** Over one of the channel's budgets: no model call was made. */
  | { type: "overBudget"; message: string };

/** Whose run calls a tool. */
export interface ToolCaller {
  userId: string;
  /** Our id of the thread. */
  uid: string;
  api: Api;
  /** W3C trace context that the call belongs to. */
  traceparent?: string | null;
}

export interface Agent {
  /** Rejects with ModelFault, or with the signal's reason. `wrote`: as in model.ts. */
  think(turn: Turn, wrote: Wrote, signal: AbortSignal): Promise<TurnEnd>;
  /** Rejects with the signal's reason alone: a tool's failure is an answer with `isError`. The text is cut to 4,000 characters. */
  useTool(
    slug: string,
    call: Call,
    signal: AbortSignal,
    caller?: ToolCaller,
  ): Promise<{ text: string; isError: boolean }>;
  /** Tool servers that could not be used the last time, in words for the operator. */
  warnings?(): string[];
  close(): Promise<void>;
}
