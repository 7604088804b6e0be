import type { HandedBack } from "../machines/person.ts";
import type { Call, RefusedCall, Shown, Usage } from "../machines/run.ts";
import type { Attachment } from "./domain/threads/attachments.ts";
import type { MessageFile } from "./domain/threads/files.ts";
import type { HistorySummary } from "./domain/threads/history-summary.ts";
import type { ToldFiles } from "./domain/threads/told-files.ts";
import type { ToolImages } from "./domain/threads/told-images.ts";
import type { Api, Catalog, Message, RunRecord, TurnItem } from "./domain/threads/message.ts";
import type { Wrote } from "./model.ts";

/**
 * The agent contract: one model turn, or one call of a server-side tool. It knows no HTTP and no store: its input is passed
 * in, and its decision is returned. Implemented by agent/create-agent.ts.
 */
export interface Turn {
  /** The channel: it has the instructions, the model and the MCP servers. */
  slug: string;
  /** The active run; `run.turns` is its transcript so far. */
  run: RunRecord;
  /** The text that the run answers. */
  text: string;
  /** The attachments of that text. */
  attachments?: Attachment[];
  /** The files of that text. */
  files?: MessageFile[];
  /** The run whose message that text is, if it is answered again; absent: this one's. */
  askedIn?: string;
  /** Present if a person had the thread before that text, and gave it back. */
  handedBack?: HandedBack;
  /** By run id: the stored images (data: URLs) that the model sees; absent: none. */
  images?: ReadonlyMap<string, readonly string[]>;
  /** Of that text and of those before it; absent: they have none. */
  toldFiles?: ToldFiles;
  /** Of the beginning of the history, which `before` then leaves out; absent: there is none. */
  summary?: HistorySummary;
  /** By call id: images (data: URLs) that tools answered in this run; absent: none, or they are gone with the process that had them. */
  toolImages?: ToolImages;
  /** The history before the run, oldest first. */
  before: Message[];
  /** The thread's page tools; offered to the model only on the widget API. */
  catalog: Catalog;
  /** Neither tools nor people are offered to the model, and no tool server is asked. */
  withoutTools?: true;
  /** Tokens of the run's earlier turns, as the model server reported them; absent or null: estimated from `run.turns`. */
  usage?: Usage | null;
  /** W3C trace context of the request that began this, or of the run's active segment; null: none. */
  traceparent: string | null;
}

/** What models cost. `micros`: millionths of a unit of the currency. */
export interface Money {
  /** ISO 4217: `USD`. */
  currency: string;
  micros: number;
}

/**
 * Called with each request to the model. `cost` tells the tokens of the turn up to when it is called: as the model server told
 * them, else estimated; null: nothing was spent. `money`: the same in money; null: the price is not known.
 */
export type OnAsked = (cost: () => Usage | null, money: () => Money | null) => void;

export type TurnEnd =
  /** `finishReason`: only if something cut the model short. */
  | { type: "finished"; item: TurnItem; usage: Usage | null; finishReason?: string }
  /** The model wrote nothing; `message` tells the visitor why. */
  | {
      type: "saidNothing";
      item: TurnItem;
      message: string;
      usage: Usage | null;
      finishReason: string | null;
    }
  /** The model called tools; each call is resolved and checked, or refused with a reason for the model. */
  | { type: "called"; item: TurnItem; calls: (Call | RefusedCall)[]; usage: Usage | null }
  /** The model called `task_failed`. */
  | { type: "gaveUp"; item: TurnItem; reason: string; usage: Usage | null }
  /** The model called `hand_off`: a person should answer. */
  | {
      type: "handedOff";
      item: TurnItem;
      reason: string | null;
      summary: string | null;
      /** One of the channel's queues; absent: any operator. */
      queue?: string | undefined;
      usage: Usage | null;
    }
  /** Over one of the channel's budgets: no model call was made. */
  | { type: "overBudget"; message: string };

/** What a server-side tool answered. */
export interface ToolResult extends Shown {
  /** For the model: of another system's tool at most 4,000 characters. */
  text: string;
  isError: boolean;
  /** data: URLs that the next turn shows to the model (Turn.toolImages). */
  images?: readonly string[];
}

/** The run that calls a tool. */
export interface ToolCaller {
  userId: string;
  /** Our id of the thread. */
  uid: string;
  api: Api;
  /** W3C trace context that the call belongs to. */
  traceparent?: string | null;
  /**
   * Shows the visitor something that the call waits for, as the text of its step; what it answers ends the wait. Absent: nobody can
   * be waited for.
   */
  asks?: (shown: string) => () => void;
  /** How long a call may wait for the visitor. */
  waitMs?: number;
}

/** What a process that has just let a thread go knows of its history. */
export interface KnownHistory {
  summary: HistorySummary | null;
  /** The newest messages, oldest first: as many as a model could be sent, and perhaps some that the summary covers. */
  tail: readonly Message[];
}

/** Messages to be summarised. */
export interface Summarizing {
  slug: string;
  /** The thread's last run: its user and its address pay. */
  run: Pick<RunRecord, "userId" | "address">;
  traceparent: string | null;
  /** The summary of what came before them. */
  summary: HistorySummary | null;
  /** Oldest first. Of one that has `kept`, that text is left out. */
  messages: readonly Message[];
  /** Called at the end, whatever it is, with what it cost. */
  onSpent?(cost: Usage | null, money: Money | null): void;
}

export type Summarized = Pick<HistorySummary, "text" | "model" | "usage">;

export interface Agent {
  /** Rejects with ModelFault, or with the signal's reason. `wrote`: as in model.ts. */
  think(turn: Turn, wrote: Wrote, signal: AbortSignal, onAsked?: OnAsked): Promise<TurnEnd>;
  /** Rejects only with the signal's reason: a tool's failure is a result with `isError`. */
  useTool(slug: string, call: Call, signal: AbortSignal, caller?: ToolCaller): Promise<ToolResult>;
  /**
   * The number of the last message that should be summarised now; null: none, since the history fits or the channel wants no
   * summaries. Absent: nothing is ever summarised.
   */
  summarizesTo?(slug: string, history: KnownHistory): number | null;
  /** The summary of a summary and of the messages after it. Null: a daily cap is used up. Rejects if the model fails. */
  summarize?(asked: Summarizing, signal: AbortSignal): Promise<Summarized | null>;
  /**
   * Finishes what a visitor began with a link of a tool's step: exchanges the code, and keeps the tokens as theirs. Null: nobody
   * began it, or it is over. Rejects if the authorization server gives no tokens.
   */
  finishSignIn?(
    this: void,
    answer: {
      state: string;
      /** null: it was refused. */
      code: string | null;
      iss: string | null;
    },
  ): Promise<{ userId: string; server: string; thread: string } | null>;
  /** One sentence for the operator for each tool server that failed when it was last used. */
  warnings?(): string[];
  close(): Promise<void>;
}
