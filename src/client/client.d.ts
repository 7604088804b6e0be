/**
 * The typed client of the Chat Agent Service's server API: for backends, bots and scripts, on Node 20 or later and any
 * runtime with fetch. Its key never goes into a page.
 *
 * @packageDocumentation
 */

/** A chunk of the reply, to append. */
export interface DeltaLine {
  type: "delta";
  text: string;
}

/** Progress; a later step of the same `id` replaces the earlier one. */
export interface StepLine {
  type: "step";
  id: string;
  phase: "running" | "done" | "failed";
  text: string;
}

/** The reply is told from its beginning: what was told of its text before is void. Rare: after a crash of the service. */
export interface RestartLine {
  type: "restart";
}

/** The end: the goal was reached. */
export interface DoneLine {
  type: "done";
  /** From the user's message on. */
  elapsedMs: number;
  /** Tokens of this run, and of the thread so far, where the model's server tells them. */
  inputTokens?: number;
  outputTokens?: number;
  totalInputTokens?: number;
  totalOutputTokens?: number;
  /** Only where the model did not end of itself: `length`, `content_filter`, … */
  finishReason?: string;
  /** A person answers, or is waited for: what they say is in the history and in the feed. */
  handledBy?: "person";
}

/** The end: it failed. Without a code: a fault on the server's side. */
export interface ErrorLine {
  type: "error";
  message: string;
  /** `task_failed`, `cancelled`, `expired`, `superseded`, `budget_exceeded`, `deleted`; others may come one day. */
  code?: string;
  /** The run's last tool answer; only with `task_failed`. */
  hint?: string;
}

/** The end of a user's run that came by a page: it waits for a tool of that page. */
export interface ToolCallLine {
  type: "tool_call";
  tool: string;
  arguments: Record<string, unknown>;
  callId: string;
}

/** The last line of a reply. */
export type TerminalLine = DoneLine | ErrorLine | ToolCallLine;

/** A line of a reply. */
export type Line = DeltaLine | StepLine | RestartLine | TerminalLine;

/** An item of a thread's history. */
export interface HistoryItem {
  id: string;
  role: "user" | "assistant";
  content: string;
  /** Unix time in milliseconds. */
  createdAt: number;
  clientMessageId?: string;
  attachments?: { url: string; name?: string }[];
  steps?: Omit<StepLine, "type">[];
  /** Only on what a person wrote. */
  author?: { type: "person"; name: string };
  /** Only on a reply of a chain of models. */
  model?: string;
  /** Only on the reply of a run that failed. */
  error?: { message: string; code?: string };
}

/** What goes on in a thread. */
export type ThreadState = "idle" | "running" | "awaiting" | "waiting_for_person" | "with_person";

/** A thread in the list of a user's threads. */
export interface ListedThread {
  threadId: string;
  /** Unix time in milliseconds. */
  createdAt: number;
  /** When a message came into the history last. */
  updatedAt: number;
  state: ThreadState;
}

/** A line of a thread's feed. */
export type FeedLine =
  | { type: "message"; item: HistoryItem }
  | { type: "state"; state: ThreadState; runId?: string; waitingSince?: number; with?: string }
  /** A person writes; counts for six seconds. */
  | { type: "typing"; name: string }
  /** More was missed than a feed tells: read the history. */
  | { type: "reset" }
  /** The thread is gone; the feed ends. */
  | { type: "deleted" };

/** Whose thread. Ids are your own. */
export interface ThreadOfUser {
  threadId: string;
  userId: string;
  /** A channel's slug; by default the client's, and `cli`. */
  channel?: string;
}

/** A user's message. */
export interface Message extends ThreadOfUser {
  text: string;
  /** Your own id of the message, under which it is said once. By default a random one. */
  clientMessageId?: string;
  displayName?: string;
  /** Images, where the channel takes them. */
  attachments?: { url: string; name?: string }[];
  /** What your site knows of the user: kept, and told to the model as facts. */
  attributes?: Record<string, string | number | boolean>;
  /** About the user, for this message. */
  context?: Record<string, string | number | boolean>;
  /** The user's language: `de-CH`. */
  locale?: string;
}

/** A reply as it comes: its lines, once, in order. It is read to its end, also where nobody is in the loop any more. */
export interface Reply extends AsyncIterable<Line> {
  /** The last line; also where nobody reads the others. Rejects where the message was refused, or nothing answers. */
  readonly final: Promise<TerminalLine>;
  /** The text so far; all of it when `final` has come. */
  readonly text: string;
}

/** Ends a request, a reply or a feed on this side. */
export interface Abortable {
  signal?: AbortSignal;
}

/** How to reach the service. */
export interface ClientOptions {
  /** `https://chat.example.com` */
  baseUrl: string;
  /** A transport key of the service, HARNESS_API_KEY. */
  key: string;
  /** Where a call names none; by default `cli`. */
  channel?: string;
  /** How often something is tried again without any progress, before it fails; by default 8, over about two minutes. */
  retries?: number;
  /** In place of the global one. */
  fetch?: typeof fetch;
}

/** The server API. What is refused rejects with an error that has the answer's `status`. */
export interface Client {
  /**
   * Says a user's message. Where the connection breaks, the service restarts or is away for a while, it is repeated under
   * its `clientMessageId`, and the reply goes on where it was: said once, told once.
   */
  send(message: Message, options?: Abortable): Reply;
  /** The last messages, oldest first: 10, or `limit`; those before the id in `before`. */
  history(
    thread: ThreadOfUser & { limit?: number; before?: string },
    options?: Abortable,
  ): Promise<HistoryItem[]>;
  /** A user's threads, the latest activity first; `next` is the `cursor` of the next page. */
  threads(
    user: { userId: string; channel?: string; limit?: number; cursor?: string },
    options?: Abortable,
  ): Promise<{ items: ListedThread[]; next: string | null }>;
  /** Stops the thread's active run. */
  cancel(thread: ThreadOfUser, options?: Abortable): Promise<void>;
  /** May this user talk? */
  access(
    user: { externalUserId: string; channel?: string; displayName?: string },
    options?: Abortable,
  ): Promise<{ allowed: boolean; userId: string }>;
  /** Says whose account a page's visitor is, with the channel's secret key. Mind the three rules of the README. */
  identify(
    visitor: {
      channel: string;
      secretKey: string;
      visitorToken: string;
      externalUserId: string;
      attributes?: Record<string, string | number | boolean>;
      rotate?: boolean;
    },
    options?: Abortable,
  ): Promise<{ userId: string; merged: boolean; visitorToken?: string; expiresAt?: number }>;
  /** What happens in a thread from now on, or behind the item `after`, for as long as it is read: it reconnects by itself. */
  events(thread: ThreadOfUser & { after?: string }, options?: Abortable): AsyncIterable<FeedLine>;
}

/** A client of the service at an address. It makes no request before it is asked to. */
export declare function createClient(options: ClientOptions): Client;
