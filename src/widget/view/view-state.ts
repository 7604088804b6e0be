import type { Source, StepPhase } from "../../../machines/line.ts";
import type { Approval } from "../../protocol/lines.ts";
import type { Handoffs } from "../../protocol/handoffs.ts";
import type { DraftFile, MessageFile } from "../files/message-file.ts";
import type { DraftImage } from "../images/draft-image.ts";
import type { MessageImage } from "../images/message-image.ts";

/** The view's state, as plain values. Never changed in place: a changed part is a new object. */
export interface ViewState {
  messages: ShownMessage[];
  phase: ChatPhase;
  confirmation: Confirmation | null;
  notice: Notice | null;
  /** Replies that ended unseen. */
  unread: number;
  draft: string;
  /** The images in the composer. */
  images: readonly DraftImage[];
  /** The files in the composer. */
  files: readonly DraftFile[];
  /** Largest size of one; null, absent: the channel accepts none, or that is not known yet. Survives `clear`. */
  fileBytes?: number | null;
  addFiles?: (files: readonly File[]) => void;
  removeFile?: (key: string) => void;
  /** Saves a file of the conversation to the visitor's disk. */
  saveFile?: (file: MessageFile) => void;
  /** Characters that a message's images may have together; null: the channel accepts none, or that is not known yet. */
  imageRoom: number | null;
  /** The channel lets visitors ask for a person. Like the next fields, up to `people`, it survives `clear`. */
  handoff?: boolean;
  /** When a person is there again; null, absent: one is, or the channel has none. */
  peopleAgainAtMs?: number | null;
  /** The channel does not allow the page's origin. */
  isOriginRefused?: boolean;
  /** The person who answers instead of the assistant, or did until now; null: none. */
  person?: ShownPerson | null;
  /** What was said last to a visitor who does not see the panel, unasked; null, absent: nothing. */
  teaser?: { author: string | undefined; text: string; dismiss(this: void): void } | null;
  /** Asks for a person, or stops waiting. */
  askPerson?: (isWanted: boolean) => void;
  /** The owner is told of replies that no page has shown. */
  tellsUnread?: boolean;
  /** Who answered when, and what the visitor left; null, absent: nothing, or not known. */
  people?: ShownPeople | null;
  leaveAddress?: (address: string) => void;
  /** What the visitor thinks of how a person helped; null: they say no more of it. */
  ratePerson?: (said: { score: number; comment?: string } | null) => void;
  /** A message may be sent while a reply is being written. */
  speaksAtOnce?: boolean;
  sayNow?: (text: string) => void;
  /** Says whether a call may be made that waits for the visitor. */
  approve?: (callId: string, approved: boolean) => void;
  /** The calls that were decided here. */
  decided?: readonly string[];
  /** An image is being scaled down. */
  isFitting: boolean;
  /** The draft is sent when the reply is over. */
  isQueued: boolean;
  /** There are older messages than the first one shown. */
  hasEarlier: boolean;
  /** For screen readers: steps and finished replies, not the text as it grows. */
  announcement: string;
  /** The visitor's conversations, to choose from; null: the current one is shown. */
  threads: ShownThreads | null;
}

export interface ShownThreads {
  items: ShownThread[];
  hasMore: boolean;
  phase: "loading" | "ready" | "failed";
  deletion?: ThreadDeletion;
}

/** The deletion of one of the visitor's conversations. */
export interface ThreadDeletion {
  /** The conversation that the question is about, or was last. */
  threadId: string | null;
  phase: "rest" | "asking" | "deleting" | "failed" | "gone";
  /** Asks about this conversation; null: the answer was no. */
  ask(this: void, threadId: string | null): void;
  /** Deletes it. `leave`: begins a new one, called if the tab was in it. */
  confirm(this: void, leave: () => void): Promise<void>;
}

export interface ShownThread {
  threadId: string;
  /** The first words of its first message; null until they are known. */
  title: string | null;
  atMs: number;
  isCurrent: boolean;
  isUnread: boolean;
}

/** `isAsked`: the visitor is asked for words, too. Known only to this page. */
export type ShownPeople = Omit<Handoffs, "rating"> & {
  rating?: (NonNullable<Handoffs["rating"]> & { isAsked?: boolean }) | null;
};

export type ShownPerson =
  | { type: "waiting"; sinceMs: number }
  | { type: "here"; name: string; isTyping: boolean }
  /** The assistant answers again. */
  | { type: "gone" };

/**
 * `idle`, `error` and `blocked` accept messages, `offline` does not; in the others a run is active. Blocked: the service
 * refused this visitor or this page, but may accept the next message.
 */
export type ChatPhase =
  | "idle"
  | "sending"
  | "streaming"
  | "tool"
  | "waiting-user"
  | "offline"
  | "blocked"
  | "error";

export interface ShownMessage {
  key: string;
  /** Its id in the thread's history; null while this page does not know it. Ids count up. */
  id: string | null;
  role: "user" | "assistant";
  text: string;
  /** The name of the person who wrote it instead of the assistant. */
  author?: string | undefined;
  /** The images of a visitor's message, if it has some. */
  images?: readonly MessageImage[] | undefined;
  /** Its files, if it has some. */
  files?: readonly MessageFile[] | undefined;
  /** The id that a page gave to a visitor's message. */
  clientMessageId: string | null;
  steps: ShownStep[];
  /** Of a reply in the history, as its item has them; absent: those of its steps. */
  sources?: readonly Source[];
  /** More may follow. */
  live: boolean;
  /** When it was said; null for an unfinished reply. */
  atMs: number | null;
  /** The model stopped early. */
  isCutOff: boolean;
  problem: Problem | null;
  /** A reply's feedback, unparsed: the thumbs read it. */
  feedback?: unknown;
}

export interface ShownStep {
  id: string;
  phase: StepPhase;
  text: string;
  /** The documents that it has found. */
  sources?: readonly Source[];
  /** Its call waits for this. */
  approval?: Approval;
}

/** What is wrong with a message, and what Retry does about it. */
export interface Problem {
  text: string;
  hint?: string | undefined;
  /** resend: no answer came. again: the run failed. attach: the run may have continued without this tab. */
  retry: "resend" | "again" | "attach" | null;
  /** The history says why the run failed, so its stream need not be requested. */
  isTold?: boolean;
}

export interface Notice {
  text: string;
  /** Announced at once. */
  alert: boolean;
  /** What failed can be tried again. */
  retry?: boolean;
}

/** May this tool run? */
export interface Confirmation {
  title: string;
  arguments: [name: string, value: string][];
  /** It is asked each time. */
  isOnce?: boolean;
  decide(consent: Consent): void;
}

export type Consent = "allow" | "always" | "decline";

export const EMPTY_VIEW: ViewState = {
  messages: [],
  phase: "idle",
  confirmation: null,
  notice: null,
  unread: 0,
  draft: "",
  images: [],
  files: [],
  imageRoom: null,
  isFitting: false,
  isQueued: false,
  hasEarlier: false,
  announcement: "",
  threads: null,
};

/** Adds a step, or replaces the one with its id. */
export function withStep(steps: ShownStep[], step: ShownStep): ShownStep[] {
  return steps.some((known) => known.id === step.id)
    ? steps.map((known) => (known.id === step.id ? step : known))
    : [...steps, step];
}

export function isRunning(phase: ChatPhase): boolean {
  return phase === "sending" || phase === "streaming" || phase === "tool" || phase === "waiting-user";
}
