/**
 * The typed client of the Chat Agent Service's server API: for backends, bots and scripts, on Node 20 or later, Deno, Bun
 * and any runtime with fetch. Its key never goes into a page.
 *
 * Times are Unix times in milliseconds, and lengths are counted in UTF-16 code units, as a string's `length` is.
 *
 * @packageDocumentation
 */

// Made of src/protocol by `npm run protocol`, to the next line like this

/** A chunk of the reply, to append to its text. Where a reply is cut into chunks means nothing. */
export interface DeltaLine {
  type: "delta";
  /** One character or more. */
  text: string;
}

/** How far a step is: `running` comes when a tool is called, `done` or `failed` when that is over. */
export type StepPhase = "running" | "done" | "failed";

/** A document of the site that a reply rests on. */
export interface Source {
  /** Its title; its address where it has none. */
  title: string;
  /** Where it is: an address, or the name of a file. */
  url: string;
}

/** A call of a tool that is made only once somebody approves it. */
export interface Approval {
  /** Under which it is approved. */
  callId: string;
  /** Who is asked. */
  by: "visitor" | "operator";
  /** The tool's name, as its server has it. */
  tool: string;
  /** What it would be called with. */
  arguments: Record<string, unknown>;
}

/** Progress of a tool call; a later step of the same `id` takes its place. */
export interface StepLine {
  type: "step";
  /** The tool's name; `name#2`, `name#3` for later calls of the same tool in one run. */
  id: string;
  /** How far it is. */
  phase: StepPhase;
  /** One sentence for the user, in their language. */
  text: string;
  /** Only of a search in the site's documents: what the reply may rest on. */
  sources?: Source[];
  /** Only while the call waits for approval. */
  approval?: Approval;
}

/** The end of a stream of a run that was begun on a page: it waits for a tool of that page, which alone can answer. */
export interface ToolCallLine {
  type: "tool_call";
  /** The tool's name, as the page offered it. */
  tool: string;
  /** What the model wrote for the tool's schema. */
  arguments: Record<string, unknown>;
  /** Under which the page answers. */
  callId: string;
}

/** The end: the goal was reached. Tokens are those of all model calls together, and absent where the model's server counts none. */
export interface DoneLine {
  type: "done";
  /** Milliseconds from the user's message on, with what a tool of a page took. */
  elapsedMs: number;
  /** Tokens that the models of this run read. */
  inputTokens?: number;
  /** Tokens that the models of this run wrote. */
  outputTokens?: number;
  /** Tokens read in the whole thread so far, this run included. */
  totalInputTokens?: number;
  /** Tokens written in the whole thread so far, this run included. */
  totalOutputTokens?: number;
  /** Only where the model did not end of itself: `length`, `content_filter`, or what else its server says. */
  finishReason?: string;
  /** Only where a person answers, or is waited for: what they say is in the history and in the feed. */
  handledBy?: "person";
}

/**
 * Why a run failed: the model gave up, it was cancelled, its page did not answer in time, a later message ended its page
 * call, a token cap of the channel is used up, its thread or user was deleted.
 */
export type KnownErrorCode =
  | "task_failed"
  | "cancelled"
  | "expired"
  | "superseded"
  | "deleted"
  | "budget_exceeded";

/** The end: it failed. What was said before stays said, and is in the history. */
export interface ErrorLine {
  type: "error";
  /** What happened, as a sentence in English. */
  message: string;
  /** A {@link KnownErrorCode}; others may come one day. Absent: a fault on the service's side. */
  code?: KnownErrorCode | (string & {});
  /** The run's last tool answer, at most 400 characters; only with `task_failed`. */
  hint?: string;
}

/** The last line of a reply; there is exactly one. */
export type TerminalLine = DoneLine | ErrorLine | ToolCallLine;

/**
 * The text that was told before is void, and is told again from its beginning. Rare: where a run goes on in other words
 * after a crash of the service.
 */
export interface RestartLine {
  type: "restart";
}

/** A line of a reply. Lines of another `type` may come one day: pass over them. */
export type Line = DeltaLine | StepLine | RestartLine | DoneLine | ErrorLine | ToolCallLine;

/** An image of a message. */
export interface Attachment {
  /** The image itself, `data:image/png;base64,…`, or its https address, which the model's server fetches. */
  url: string;
  /** At most 256 characters. */
  name?: string;
}

/** A file of a message; it is fetched by its id. */
export interface MessageFile {
  /** By which it is fetched, and named by a message. */
  id: string;
  /** As its sender named it, without a folder; at most 256 characters. */
  name: string;
  type: string;
  /** Its length. */
  bytes: number;
}

/** What somebody thinks of a reply. */
export interface Rating {
  /** Good or bad. */
  rating: "up" | "down";
  /** At most 2,000 characters. */
  comment?: string;
}

/** What was said in a thread, by a user, the assistant or a person. */
export interface HistoryItem {
  /** Unique in the thread; counts up from `"1"`. */
  id: string;
  /** A person's words have the role `assistant`, and an `author`. */
  role: "user" | "assistant";
  /** Its text. */
  content: string;
  /** Unix time in milliseconds. */
  createdAt: number;
  /** Only on a user's message that came with one. */
  clientMessageId?: string;
  /** Only on a user's message that came with images. */
  attachments?: Attachment[];
  /** Only on a user's message that came with files. */
  files?: MessageFile[];
  /** Only on a reply that used tools. */
  steps?: Omit<StepLine, "type" | "sources" | "approval">[];
  /** Only on a reply that rests on documents of the site: which ones. */
  sources?: Source[];
  /** Only on what a person wrote. */
  author?: { type: "person"; name: string };
  /** Only on a reply of a chain of models: who answered, `PROVIDER/MODEL`. */
  model?: string;
  /** Only on the reply of a run that failed; where it said nothing, `content` is this message. */
  error?: { message: string; code?: string };
  /** Only on a reply that was not said to its end, and did not fail: why. */
  ended?: "cancelled" | "superseded" | "expired";
  /** Only on what began a branch: the item in whose place it stands; that one and what followed it are in another. */
  replaces?: string;
  /** Only with `branches=1`: the item is not in the branch that is shown, and told to the model. */
  otherBranch?: true;
  /** Only on a reply that somebody rated. */
  feedback?: Rating;
}

/**
 * What goes on in a thread: nothing, a run, a run that waits for a tool of its page, a person is waited for, a person
 * answers.
 */
export type ThreadState = "idle" | "running" | "awaiting" | "waiting_for_person" | "with_person";

/** A thread in the list of a user's threads. */
export interface ListedThread {
  /** Your own id of it; of a conversation that a visitor began on a page, the service's. */
  threadId: string;
  /** Unix time in milliseconds. */
  createdAt: number;
  /** When a message came into the history last: Unix time in milliseconds. */
  updatedAt: number;
  /** What goes on in it now. */
  state: ThreadState;
}

/** A page of the list of a user's threads. */
export interface ThreadPage {
  /** The latest activity first. */
  items: ListedThread[];
  /** The `cursor` of the next page; null on the last one. */
  next: string | null;
}

/** An item came into the thread's history. */
export interface MessageFeedLine {
  type: "message";
  /** As the history has it. */
  item: HistoryItem;
}

/** What goes on in the thread now; told first when a feed begins, and after each change. */
export type StateFeedLine =
  | { type: "state"; state: "idle" }
  /** `runId`: of the run that works, or waits for its page. */
  | { type: "state"; state: "running" | "awaiting"; runId: string }
  /** `waitingSince`: Unix time in milliseconds. */
  | { type: "state"; state: "waiting_for_person"; waitingSince: number }
  /** `with`: the person's name. */
  | { type: "state"; state: "with_person"; with: string };

/** More was missed than a feed tells: read the history. */
export interface ResetFeedLine {
  type: "reset";
}

/** The thread is gone. The last line: the feed ends. */
export interface DeletedFeedLine {
  type: "deleted";
}

/** A person writes; counts for six seconds. */
export interface TypingFeedLine {
  type: "typing";
  /** The person's name. */
  name: string;
}

/** A line of a thread's feed. Lines of another `type` may come one day: pass over them. */
export type FeedLine = MessageFeedLine | StateFeedLine | TypingFeedLine | ResetFeedLine | DeletedFeedLine;

// Made of src/protocol by `npm run protocol`, to the next line like this

/** A user of a channel. Ids are your own: 1 to 256 characters without control characters. */
export interface UserOfChannel {
  /** Unique in the channel. */
  userId: string;
  /**
   * The channel's slug.
   *
   * @defaultValue the client's
   */
  channel?: string;
}

/** Whose thread. Ids are your own: 1 to 256 characters without control characters. */
export interface ThreadOfUser extends UserOfChannel {
  /** Unique for the channel and the user. */
  threadId: string;
}

/** Which run to stop. */
export interface StoppedRun extends ThreadOfUser {
  /**
   * The run's id, from {@link Reply.runId} or a feed. Without it, whichever run is active: a stop that is repeated after a
   * lost answer may then end the next one.
   */
  runId?: string;
}

/** A flat map of facts. */
export type Facts = Record<string, string | number | boolean>;

/** A user's message. Its first use creates the user and the thread. */
export interface Message extends ThreadOfUser {
  /** One character or more. */
  text: string;
  /**
   * Your own id of the message, under which it is said once: 1 to 128 characters without control characters. The same id
   * with another text is refused with 422.
   *
   * @defaultValue a random one
   */
  clientMessageId?: string;
  /** Stored with the user and told to the model; a later one replaces it. */
  displayName?: string;
  /** Up to 4 images, where the channel's `agent.images` is true; else refused with 422. */
  attachments?: Attachment[];
  /** The ids of up to 8 files that {@link Client.sendFile} has sent to this thread within a day; else refused with 422. */
  files?: string[];
  /**
   * What your site knows of the user, at most 4,000 characters of JSON: kept with the user, and told to the model as facts.
   * A later map replaces the whole one, an empty one removes it.
   */
  attributes?: Facts;
  /** About the user, for this message: as JSON no longer than WIDGET_MAX_TEXT_CHARS (2,000); else refused with 413. */
  context?: Facts;
  /** The user's language for this message, a BCP 47 tag: `de-CH`. */
  locale?: string;
  /** The id of a user's item in whose place this message stands: a branch begins. Refused with 404 where it is none. */
  replaces?: string;
}

/** A file for a message of a thread. */
export interface NewFile extends ThreadOfUser {
  /** The model is told it. */
  name: string;
  /** PDF, Word (.docx), text, CSV or an image, by its content; no longer than FILES_MAX_BYTES (4 MiB). */
  data: Blob | Uint8Array<ArrayBuffer>;
}

/** Another reply to a message. */
export interface AnotherReply extends ThreadOfUser {
  /** The id of the reply in whose place the new one comes. */
  messageId: string;
  /** As of a {@link Message}. */
  clientMessageId?: string;
  /** As of a {@link Message}. */
  context?: Facts;
  /** As of a {@link Message}. */
  locale?: string;
}

/** What is said to a user who has not asked: `text`, or what the model writes of an `instruction`. */
export type Said = ThreadOfUser &
  Pick<Message, "clientMessageId" | "attributes" | "context" | "locale"> &
  (
    | {
        /** The assistant's words. */
        text: string;
        instruction?: never;
      }
    | {
        /** What the model is to write about. The user never sees it. */
        instruction: string;
        text?: never;
      }
  );

/** What came of it. */
export interface Spoken {
  /** Of a `text`: the item's id. */
  id?: string;
  /** Of an `instruction`: the run's id. */
  runId?: string;
}

/** Whether a call may be made that waits for approval. */
export interface Decision extends ThreadOfUser {
  /** The step's `approval.callId`. */
  callId: string;
  /** False declines it. */
  approved: boolean;
}

/** Which messages of a thread. */
export interface HistoryQuery extends ThreadOfUser {
  /**
   * How many at most, 1 to 100. Fewer come where they are long: the thread has more where the first one's id is not `"1"` and a page before it is not empty.
   *
   * @defaultValue 10
   */
  limit?: number;
  /**
   * Only those before the one with this id.
   *
   * @defaultValue the end of the thread
   */
  before?: string;
  /** `"1"`: the items of all branches; those that are not shown have `otherBranch`. */
  branches?: "1";
}

/** Which threads of a user. */
export interface ThreadsQuery extends UserOfChannel {
  /**
   * How many at most, 1 to 100.
   *
   * @defaultValue 20
   */
  limit?: number;
  /**
   * The `next` of the page before; an unknown one is refused with 422.
   *
   * @defaultValue the first page
   */
  cursor?: string;
}

/** From where on a feed is told. */
export interface EventsQuery extends ThreadOfUser {
  /**
   * The id of the last item that you have: those behind it come first. `""`: from the first item on.
   *
   * @defaultValue the thread's last item: only what is new
   */
  after?: string;
}

/** A rating of a reply of the assistant. */
export interface GivenFeedback extends ThreadOfUser {
  /** The reply's id in the history. */
  messageId: string;
  /** null takes it back. */
  rating: Rating["rating"] | null;
  /** At most 2,000 characters; else refused with 413. */
  comment?: string;
}

/** Who asks to talk. */
export interface AccessQuery {
  /** Your own id of the user, as `userId` elsewhere; its first use creates the user. */
  externalUserId: string;
  /**
   * The channel's slug.
   *
   * @defaultValue the client's
   */
  channel?: string;
  /** Stored with the user; a later one replaces it. */
  displayName?: string;
}

/** Whether somebody may talk. */
export interface Access {
  /** false: a message would be refused with 403. */
  allowed: boolean;
  /** The service's id of the user. */
  userId: string;
}

/** A page's visitor, and whose account that is. */
export interface IdentifiedVisitor {
  /** The slug of the page's channel. */
  channel: string;
  /** The channel's secret key, `sk_…`. */
  secretKey: string;
  /** From the element's `getVisitorToken()`. */
  visitorToken: string;
  /** Your own id of the account. */
  externalUserId: string;
  /** As with a message. */
  attributes?: Facts;
  /**
   * The answer has a new token in the place of this one, which counts no more at once.
   *
   * @defaultValue false
   */
  rotate?: boolean;
}

/** The account that a visitor is now. */
export interface Identified {
  /** The service's id of the account. */
  userId: string;
  /** The visitor's threads moved to an account that was there. */
  merged: boolean;
  /** Only with `rotate`: for the page, and for nobody else. */
  visitorToken?: string;
  /** Only with `rotate`: when that token expires, as Unix time in milliseconds. */
  expiresAt?: number;
}

/**
 * A reply as it comes: its lines, once, in order, to each loop over it. It is read to its end also where nobody is in a
 * loop any more.
 */
export interface Reply extends AsyncIterable<Line> {
  /**
   * The last line; also where nobody reads the others. A run that fails does not reject: its last line is an
   * {@link ErrorLine}.
   *
   * @throws {@link ServiceError} where the message was refused, or the service answers with an error for too long.
   * @throws the fault of the last try, as the runtime's fetch tells it, where nothing answers for too long.
   * @throws the signal's reason where that was aborted.
   */
  readonly final: Promise<TerminalLine>;
  /** The text so far; all of it when `final` has come. */
  readonly text: string;
  /** The id of its run, for {@link Client.cancel}; null before the service has stored the message. */
  readonly runId: string | null;
}

/** How a call ends before its time. */
export interface Abortable {
  /**
   * Ends the request, reply or feed on this side; what waits for it rejects with the signal's reason. The run goes on: see
   * {@link Client.cancel}.
   */
  signal?: AbortSignal;
}

/** How to reach the service. */
export interface ClientOptions {
  /** Where the service is, with or without a path: `https://chat.example.com`. */
  baseUrl: string;
  /** A transport key of the service: HARNESS_API_KEY. */
  key: string;
  /**
   * The slug of the channel of calls that name none.
   *
   * @defaultValue `"cli"`
   */
  channel?: string;
  /**
   * How often in a row something is tried again without any progress before it fails. The waits are 0.25 s, 0.5 s, 1 s, … up
   * to 30 s, a quarter more or less by chance, or as long as `retry-after` says.
   *
   * @defaultValue 8, which is about a minute
   */
  retries?: number;
  /**
   * Makes the requests.
   *
   * @defaultValue the global `fetch`
   */
  fetch?: typeof fetch;
}

/** What a call rejects with where the service answered, but not with success. Known by its `name` and `status`. */
export interface ServiceError extends Error {
  /** By which it is known from faults of the network. */
  readonly name: "ServiceError";
  /**
   * Of the answer. 401: the key; 403: the user may not talk; 404: unknown channel, user or thread; 413: too long; 422: not as
   * the types say. 429 and 5xx come only after `retries` tries.
   */
  readonly status: number;
  /** How long the answer asks to wait, in milliseconds; 0 where it does not. */
  readonly retryAfterMs: number;
}

/**
 * The server API. Each call rejects with a {@link ServiceError} where the service refuses it (4xx). Where the service does
 * not answer, or with 429 or 5xx, the call is repeated as `retries` says, and rejects with the last fault. Each takes
 * `{ signal }` as its second argument.
 */
export interface Client {
  /**
   * Says a user's message at once; nobody needs to read the reply. Where the connection breaks, is silent for 45 seconds, or
   * the service restarts, the message is repeated under its `clientMessageId`, and the reply goes on where it was: said
   * once, told once.
   *
   * It is refused with 403 where the user may not talk, with 404 where the channel is unknown; 429, more messages wait than
   * the thread takes, is tried again.
   */
  send(message: Message, options?: Abortable): Reply;
  /** Sends a file, for a message to name in its `files`. Refused with 413 for one that is too long, 422 for one of another type. */
  sendFile(file: NewFile, options?: Abortable): Promise<MessageFile>;
  /** Has the message of a reply answered once more, in a new branch. Refused with 404 where it is no reply. */
  regenerate(reply: AnotherReply, options?: Abortable): Reply;
  /**
   * Says something to a user who has not asked, once under its `clientMessageId`. An `instruction` is refused with 409 while a
   * person has the thread.
   */
  say(said: Said, options?: Abortable): Promise<Spoken>;
  /** Approves a call that waits for the user, or declines it; the run goes on in its open reply. 409 where it does not wait. */
  approve(decision: Decision, options?: Abortable): Promise<void>;
  /** The last messages of a thread, oldest first. An unknown thread is refused with 404. */
  history(thread: HistoryQuery, options?: Abortable): Promise<HistoryItem[]>;
  /** A user's threads, the latest activity first. An unknown user is refused with 404. */
  threads(user: ThreadsQuery, options?: Abortable): Promise<ThreadPage>;
  /**
   * Stops the thread's active run: its reply ends with an error of code `cancelled`. Does nothing where none is active, or
   * another one than `runId` names.
   */
  cancel(run: StoppedRun, options?: Abortable): Promise<void>;
  /** Rates a reply of the assistant; the latest rating counts. What is no reply is refused with 404. */
  feedback(given: GivenFeedback, options?: Abortable): Promise<void>;
  /** May this user talk? */
  access(user: AccessQuery, options?: Abortable): Promise<Access>;
  /**
   * Says whose account a page's visitor is, with the secret key of the page's channel. Mind the
   * three rules of the service's README. It may be repeated, except with `rotate`, which is tried once.
   *
   * A wrong key is refused with 401, an unknown or expired token with 404, one of another account with 409.
   */
  identify(visitor: IdentifiedVisitor, options?: Abortable): Promise<Identified>;
  /**
   * What happens in a thread, each item once, for as long as it is read. It comes back by itself behind the last item that
   * it told; it ends where the thread is deleted, where the loop is left, or, rejecting, by its signal. An unknown thread
   * is refused with 404.
   */
  events(thread: EventsQuery, options?: Abortable): AsyncIterable<FeedLine>;
}

/**
 * A client of the service at an address. It makes no request before it is asked to.
 *
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "https://chat.example.com", key: process.env["KEY"] ?? "" });
 * const reply = client.send({ threadId: "chat-1", userId: "ada", text: "Where is order 1001?" });
 * for await (const line of reply) if (line.type === "delta") process.stdout.write(line.text);
 * ```
 */
export declare function createClient(options: ClientOptions): Client;
