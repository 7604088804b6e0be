import type { HandedBack } from "../../../machines/person.ts";
import type { RunOutcome } from "../../../machines/run.ts";
import type { Attachment } from "./attachments.ts";
import type { MessageFile } from "./files.ts";
import type { Attributes } from "../people/attributes.ts";
import type { KeptText, RunLine } from "./kept-text.ts";
import type { HistoryItem, Rating } from "../../protocol/history.ts";
import type { StepLine, TerminalLine } from "../../protocol/lines.ts";
import type { PageTool } from "../channels/page-tool.ts";

/** Somebody's rating of a reply. */
export interface Feedback extends Rating {
  atMs: number;
}

/** A tool call of an earlier run in short form, for later prompts. */
export interface PastCall {
  /** The name under which it was offered. */
  tool: string;
  /** JSON text, cut. */
  arguments: string;
  /** The result's text, cut; null if the call was never answered. */
  result: string | null;
}

/** A turn of an earlier run that called tools: the extra fields that its model needs back. */
export interface PastTurn {
  /** PROVIDER/MODEL */
  by: string;
  extra?: Record<string, unknown>;
  /** One for each of its calls, which are consecutive in the message's `calls`. */
  calls: { id: string; extra?: Record<string, unknown> }[];
}

/** The last line of a step. */
export type KeptStep = Omit<StepLine, "type">;

/** An item of a thread's history, as it is stored. Ids are unique within the thread and count up from 1. */
export interface Message {
  id: string;
  role: "user" | "assistant";
  content: string;
  createdAtMs: number;
  runId: string;
  /** Only on a reply that used tools. */
  steps?: KeptStep[];
  /** Only on a user's message that was sent with one. */
  clientMessageId?: string;
  /** Only on a user's message that was sent with attachments. */
  attachments?: Attachment[];
  /** Only on a user's message that was sent with files. */
  files?: MessageFile[];
  /** Only on a reply that used tools; not shown to clients. */
  calls?: PastCall[];
  /** The turns that made these calls, and the turn after them; absent if the model of one is unknown. Not shown to clients. */
  turns?: PastTurn[];
  /** Only on a reply; not shown to clients. */
  outcome?: RunOutcome;
  /** Only on a message of a person who answered instead of the model. */
  author?: NonNullable<HistoryItem["author"]>;
  /** Only on what began a branch: the item that it stands in the place of. That one, and what followed it, are in another branch. */
  replaces?: string;
  /** Only on a reply to a message that was answered again: that message. */
  answers?: string;
  /** Only where all branches are read: it is in another one than the chosen one. */
  otherBranch?: true;
  /** Only on a user's message that no model answers: a person had the thread, or was waited for. Not shown to clients. */
  handledBy?: "person";
  /** Only on the first message that a model answers after a person gave the thread back. Not shown to clients. */
  handedBack?: HandedBack;
  /** Only on a reply of a chain of models: the one that answered, PROVIDER/MODEL. */
  model?: string;
  /** Only on the reply of a failed run: why it failed. If the run streamed nothing, this is also the content. */
  error?: NonNullable<HistoryItem["error"]>;
  /** Only on a rated reply. The only field of a message that ever changes. Not shown to the model. */
  feedback?: Feedback;
  /** The message could not be read and was set aside: this placeholder is shown to nobody. */
  aside?: true;
  /** Only on a long reply: the text that `content` leaves out. Reading from the store returns it whole, without this field. */
  kept?: KeptText;
}

/** Units of a message's content, in parts or not. */
export function contentChars({ content, kept }: Message): number {
  return content.length + (kept?.chars ?? 0);
}

/** Replaces a message that was set aside, so that the other ids stay. */
export function asideMessage(id: string): Message {
  return { id, role: "assistant", content: "", createdAtMs: 0, runId: "", aside: true };
}

/** What the model is given about the user. All of it is claimed by the visitor or the page, except the attributes. */
export interface Speaker {
  displayName: string | null;
  /** Pathname and search of the page, widget API only. */
  page: string | null;
  customerContext: Record<string, string | number | boolean> | null;
  /** A language tag, server API only. */
  locale?: string;
  /** The user's attributes when the message came: facts from the site. */
  attributes?: Attributes;
}

/** The API that a run came by: page tools are offered only on the widget API. */
export type Api = "server" | "widget";

/** A user's message, as it is sent or waits in the thread's queue. */
export interface UserMessage {
  runId: string;
  api: Api;
  text: string;
  userId: string;
  speaker: Speaker;
  saidAtMs: number;
  /** The caller's own id of the message, by which a repeat is recognized (message-claim.ts). */
  clientMessageId?: string;
  attachments?: Attachment[];
  files?: MessageFile[];
  /** The user's item in whose place it stands: a branch begins with it. */
  replaces?: string;
  /** There is no new message: that of the item `answers` is answered again, in place of the reply `replaces`. */
  again?: Again;
  /** W3C trace context of the request that brought it. */
  traceparent?: string;
  /** The hash under which the client's address is counted; only if addresses have a daily cap. */
  address?: string;
}

/** A message that is answered again: the id of the reply in whose place the new one comes, and of the user's message. */
export interface Again {
  replaces: string;
  answers: string;
}

/**
 * A message with a caller's id is stored once: the id is claimed in the same step that stores the message, and a repeat of
 * the id gets the run that answers the message (contract, Saying a thing once).
 */
export interface MessageClaim {
  clientMessageId: string;
  /** The run that answers the message. */
  runId: string;
  /** Distinguishes a repeat from another text with the same id. */
  textHash: string;
}

/** A call as the model made it. */
export interface NotedCall {
  /** Our own id: the model's ids can be guessed, and repeat. */
  callId: string;
  offeredName: string;
  arguments: string;
  /** The model's own id; absent if an earlier version stored the call. */
  modelCallId?: string;
  extra?: Record<string, unknown>;
}

/** An item of a run's transcript for the model, after the user's message. */
export type TurnItem =
  | {
      type: "assistant";
      text: string;
      calls: NotedCall[];
      /** PROVIDER/MODEL; absent if an earlier version stored the turn. */
      by?: string;
      /** The model is a chain, so another member might have answered. */
      isOfChain?: true;
      /** Fields that go back to the model with the turn (model.ts, Extra). */
      extra?: Record<string, unknown>;
    }
  | { type: "result"; callId: string; text: string; isError: boolean }
  /** Only the first item of a run that answers nobody's message: what the service wants said. */
  | { type: "instruction"; text: string };

/**
 * A run as it is stored with its thread: everything that another process needs to take it up, and to replay its stream.
 * The thread's header has the whole active or last run.
 */
export interface RunRecord {
  runId: string;
  api: Api;
  userId: string;
  /** As in its message. */
  address?: string;
  speaker: Speaker;
  saidAtMs: number;
  /** How long the run was active, up to the last save, not counting time spent waiting for the browser. */
  activeMs: number;
  /** The transcript for the model so far. */
  turns: TurnItem[];
  /** The run's lines since the user's message, with adjacent deltas joined and without terminal lines. */
  lines: RunLine[];
  /** Only on a run with a long text. */
  kept?: KeptText;
  /** The index in `lines` at which the present stream begins: 0, or the place of the page tool's latest result. */
  streamFrom: number;
  /** How the present stream ended; null while it is open. */
  terminal: TerminalLine | null;
  /** The page call that was answered last; a repeat of its result re-attaches. */
  answered: { callId: string; tool: string } | null;
  /** The calls that were approved, or were not, in their order; absent: none waited for that. */
  decided?: { callId: string; approved: boolean }[];
  /** Only on a run that answers a message again. */
  again?: Again;
  /** null while the run is active. */
  outcome: RunOutcome | null;
  /** The run's transitions, oldest first, up to a limit, for the console's chart. */
  path: RunMove[];
  /** Only if traces are on. */
  trace?: RunTrace;
}

/** The traceparents that the next segment of the conversation links to. */
export interface RunTrace {
  /** That of the last active segment. */
  segment: string;
  /** That of the request that began or continued it. */
  parent?: string;
  /** It ended because a person took over; the run may be another one. */
  person?: true;
}

/** One recorded transition of a run's thread chart: event type, state after it, when, and the lines it emitted (types only for deltas). */
export interface RunMove {
  atMs: number;
  event: string;
  state: string;
  said: string[];
}

/** A thread's catalog of page tools. */
export type Catalog = PageTool[];
