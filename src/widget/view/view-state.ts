import type { StepPhase } from "../../../machines/line.ts";
import type { DraftImage } from "../images/draft-image.ts";
import type { MessageImage } from "../images/message-image.ts";

/** What the view shows, as plain values. Never changed in place: a changed part is a new object. */
export interface ViewState {
  messages: ShownMessage[];
  phase: ChatPhase;
  confirmation: Confirmation | null;
  notice: Notice | null;
  /** Replies that ended unseen. */
  unread: number;
  draft: string;
  /** In the composer. */
  images: readonly DraftImage[];
  /** Characters that the images of a message may have together; null: the channel takes none, or has not told yet. */
  imageRoom: number | null;
  /** The channel lets visitors ask for a person. Like the next two it outlives a clearing. */
  handoff?: boolean;
  /** Who answers instead of the assistant, or has until now; null: nobody. */
  person?: ShownPerson | null;
  /** Asks for a person, or waits no longer. */
  askPerson?: (isWanted: boolean) => void;
  /** An image is being scaled down. */
  isFitting: boolean;
  /** The draft is sent when the reply is over. */
  isQueued: boolean;
  /** There are older messages than the first one shown. */
  hasEarlier: boolean;
  /** For screen readers: steps and finished replies, not the text as it grows. */
  announcement: string;
  /** The visitor's conversations, to choose from; null: the present one is shown. */
  threads: ShownThreads | null;
}

export interface ShownThreads {
  items: ShownThread[];
  hasMore: boolean;
  phase: "loading" | "ready" | "failed";
  deletion?: ThreadDeletion;
}

/** Of one of the visitor's conversations. */
export interface ThreadDeletion {
  /** The conversation that is asked about, or was last. */
  threadId: string | null;
  phase: "rest" | "asking" | "deleting" | "failed" | "gone";
  /** Asks about this conversation; null: it stays. */
  ask(this: void, threadId: string | null): void;
  /** Deletes it. `leave`: goes on in a new one, where it is the one that the tab is in. */
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

export type ShownPerson =
  | { type: "waiting"; sinceMs: number }
  | { type: "here"; name: string; isTyping: boolean }
  /** The assistant answers again. */
  | { type: "gone" };

/**
 * `idle`, `error` and `blocked` take messages, `offline` does not; in the others a run is active. Blocked: the service
 * refused this visitor or this page, which may be over when the next message comes.
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
  /** In the history of its thread; null while this page does not know it. Ids count up. */
  id: string | null;
  role: "user" | "assistant";
  text: string;
  /** The name of the person who wrote it, in the assistant's place. */
  author?: string | undefined;
  /** Of a visitor's message that came with some. */
  images?: readonly MessageImage[] | undefined;
  /** Of a visitor's message that a page gave one to. */
  clientMessageId: string | null;
  steps: ShownStep[];
  /** More may follow. */
  live: boolean;
  /** When it was said; null for a reply that is not over. */
  atMs: number | null;
  /** The model stopped before its end. */
  isCutOff: boolean;
  problem: Problem | null;
  /** Of a reply, as it came: the thumbs read it. */
  feedback?: unknown;
}

export interface ShownStep {
  id: string;
  phase: StepPhase;
  text: string;
}

/** What is wrong with a message, and what Retry does about it. */
export interface Problem {
  text: string;
  hint?: string | undefined;
  /** resend: no answer came. again: the run failed. attach: the run may have gone on without this tab. */
  retry: "resend" | "again" | "attach" | null;
  /** The history says why the run failed: its stream need not be asked. */
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
