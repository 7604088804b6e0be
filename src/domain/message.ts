import type { StepLine, TerminalLine } from "../../machines/line.ts";
import type { HandedBack } from "../../machines/person.ts";
import type { RunOutcome } from "../../machines/run.ts";
import type { Attachment } from "./attachments.ts";
import type { Attributes } from "./attributes.ts";
import type { KeptText, RunLine } from "./kept-text.ts";
import type { PageTool } from "./page-tool.ts";

/** A step as history and streams show it. */
export type Step = Omit<StepLine, "type">;

/** What somebody thinks of a reply. */
export interface Feedback {
  rating: "up" | "down";
  comment?: string;
  /** Only at rest, where contents are encrypted: the comment. */
  sealed?: string;
  atMs: number;
}

/** A tool call of an earlier run in short form: what the model is reminded of. */
export interface PastCall {
  /** As it was offered. */
  tool: string;
  /** JSON text, cut. */
  arguments: string;
  /** The result's text, cut; null where the call was never answered. */
  result: string | null;
}

/** A turn of an earlier run that called tools: what its model wants back of it. */
export interface PastTurn {
  /** PROVIDER/MODEL */
  by: string;
  extra?: Record<string, unknown>;
  /** One for each of its calls, which follow each other in the message's `calls`. */
  calls: { id: string; extra?: Record<string, unknown> }[];
}

/** An item of a thread's history, as it is stored. Ids are unique within the thread and count up from 1. */
export interface Message {
  id: string;
  role: "user" | "assistant";
  content: string;
  createdAtMs: number;
  runId: string;
  /** Only on a reply that used tools. */
  steps?: Step[];
  /** Only on a user's message that came with one. */
  clientMessageId?: string;
  /** Only on a user's message that came with some. */
  attachments?: Attachment[];
  /** Only on a reply that used tools; not shown to clients. */
  calls?: PastCall[];
  /** The turns that made these calls, and the one after them; absent where a model of them is unknown. Not shown to clients. */
  turns?: PastTurn[];
  /** Only on a reply; not shown to clients. */
  outcome?: RunOutcome;
  /** Only on what a person wrote, who is none of the thread's users. */
  author?: { type: "person"; name: string };
  /** Only on a user's message that no model was asked about: a person had the thread, or was waited for. Not shown to clients. */
  handledBy?: "person";
  /** Only on the first message that a model answers after a person gave the thread back. Not shown to clients. */
  handedBack?: HandedBack;
  /** Only on a reply, and only of a chain of models: who answered, PROVIDER/MODEL. */
  model?: string;
  /** Only on the reply of a run that failed: why. Where it streamed nothing, this message is also its content. */
  error?: { message: string; code?: string };
  /** Only on a reply, and only where somebody rated it: the one field of a message that changes. Not shown to the model. */
  feedback?: Feedback;
  /** What stood here could not be read and was set aside: nobody is shown this. */
  aside?: true;
  /** Only on a reply that grew long: what `content` leaves out. Whoever reads from the store gets it whole, without this. */
  kept?: KeptText;
  /**
   * Only at rest, and only where contents are encrypted: content, steps, attachments, calls, turns, note and error, which are
   * empty then or absent (stores/content-keys/).
   */
  sealed?: string;
  /** With `sealed`: the length of the content. */
  chars?: number;
}

/** Units of a message's content, wherever they are. */
export function contentChars({ content, kept, chars = 0 }: Message): number {
  return content.length + (kept?.chars ?? 0) + chars;
}

/** True: some of it is encrypted. */
export const isSealed = ({ sealed, feedback }: Message): boolean =>
  sealed !== undefined || feedback?.sealed !== undefined;

/** What takes the place of a message that was set aside: the ids of the others stay. An older version shows an empty reply. */
export function asideMessage(id: string): Message {
  return { id, role: "assistant", content: "", createdAtMs: 0, runId: "", aside: true };
}

/** What is known of who speaks, as data for the model: everything but the attributes is the visitor's or the page's claim. */
export interface Speaker {
  displayName: string | null;
  /** Pathname and search of the page, widget API only. */
  page: string | null;
  customerContext: Record<string, string | number | boolean> | null;
  /** A language tag, server API only. */
  locale?: string;
  /** The user's, as they were when the message came: what the site says of the user. */
  attributes?: Attributes;
}

/** Which API a run came by: page tools are offered on the widget API alone. */
export type Api = "server" | "widget";

/** A user's message that waits behind the thread's active run. */
export interface UserMessage {
  runId: string;
  api: Api;
  text: string;
  userId: string;
  speaker: Speaker;
  saidAtMs: number;
  /** The caller's own id of the message, by which a repeat is known (message-claim.ts). */
  clientMessageId?: string;
  attachments?: Attachment[];
  /** W3C trace context of the request that brought it. */
  traceparent?: string;
  /** By which its client's address is counted, hashed; only where addresses have a daily cap. */
  address?: string;
  /** Only at rest, where contents are encrypted: text, speaker and attachments, which are empty then. */
  sealed?: string;
  /** With `sealed`: what a claim of it has in the place of its text's hash. */
  sealedHash?: string;
}

/**
 * A message that its caller gave an id of its own is said once: the id is claimed in the very step that stores the
 * message, and whoever brings the id again gets the run that answers it (contract, Saying a thing once).
 */
export interface MessageClaim {
  clientMessageId: string;
  /** The run that answers the message. */
  runId: string;
  /** Tells a repeat from another text under the same id. */
  textHash: string;
}

/** A call as the model made it. */
export interface NotedCall {
  /** Ours: the model's ids are guessable, and repeat. */
  callId: string;
  offeredName: string;
  arguments: string;
  /** The model's own; absent where an earlier version stored the call. */
  modelCallId?: string;
  extra?: Record<string, unknown>;
}

/** An item of what the model saw and said in one run, after the user's message. */
export type TurnItem =
  | {
      type: "assistant";
      text: string;
      calls: NotedCall[];
      /** PROVIDER/MODEL; absent where an earlier version stored the turn. */
      by?: string;
      /** Another model could have answered. */
      isOfChain?: true;
      /** What the model wants back with the turn (model.ts, Extra). */
      extra?: Record<string, unknown>;
    }
  | { type: "result"; callId: string; text: string; isError: boolean };

/**
 * A run, as it is kept with its thread: what another process needs to take it up, and what replays its stream.
 * The thread's header holds the active or last run whole.
 */
export interface RunRecord {
  runId: string;
  api: Api;
  userId: string;
  /** As its message's. */
  address?: string;
  speaker: Speaker;
  saidAtMs: number;
  /** Time spent while the run was active, up to the last save; waiting on the browser is not counted. */
  activeMs: number;
  /** What the model saw and said so far. */
  turns: TurnItem[];
  /** What the run said since the user's message, adjacent deltas joined; terminal lines are not in it. */
  lines: RunLine[];
  /** Only on a run whose text has grown long. */
  kept?: KeptText;
  /** Index in `lines` where the present stream begins: 0, or where the latest tool result opened it. */
  streamFrom: number;
  /** How the present stream ended; null while it is open. */
  terminal: TerminalLine | null;
  /** The page call that was answered last; a repeat of it re-attaches. */
  answered: { callId: string; tool: string } | null;
  /** null while the run goes on. */
  outcome: RunOutcome | null;
  /** What moved the run, oldest first, bounded: the inspector replays it. */
  path: RunMove[];
  /** Only at rest, where contents are encrypted: speaker, turns and lines, which are empty then. */
  sealed?: string;
  /** Likewise, of the terminal line: a call's arguments, an error's sentence. */
  sealedTerminal?: string;
  /** Only where traces are on. */
  trace?: RunTrace;
}

/** W3C traceparents of spans: what the next segment of the conversation links to. */
export interface RunTrace {
  /** Of the segment that was active last. */
  segment: string;
  /** Of the request that made it go on. */
  parent?: string;
  /** It ended because a person was to answer; the run may be another one. */
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
