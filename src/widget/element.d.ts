/**
 * `<chat-agent>` for TypeScript: the element's attributes, properties, methods and events. Importing
 * `chat-agent-service/element` defines the element in a browser, and does nothing elsewhere.
 *
 * @packageDocumentation
 */
import type {
  DeltaLine,
  DoneLine,
  ErrorLine,
  Line,
  RestartLine,
  StepLine,
  ToolCallLine,
} from "../client/client.d.ts";

export type { DeltaLine, DoneLine, ErrorLine, StepLine, ToolCallLine };

/** The element's attributes, as they are written in HTML. */
export interface ChatAgentAttributes {
  /** The channel's publishable key; without it nobody can chat. */
  "publishable-key": string;
  /** The service's address; by default the origin of the script. With a bundler it is required. */
  "base-url"?: string;
  /** The panel is open. Each tab remembers it across navigations. */
  open?: boolean;
  /** `inline` fills its container and has no launcher; by default `floating`. */
  display?: "floating" | "inline";
  /** The side of the page; by default `end`. */
  position?: "start" | "end";
  /** `none`: the page has a button of its own, which calls `toggle()`. */
  launcher?: "auto" | "none";
  /** By default the page's `color-scheme`; `system`: the browser's preference, whatever the page's. */
  theme?: "light" | "dark" | "system";
  /** ar, de, en, es, fr, it, ja, nl, pl, pt, tr or zh; by default the page's language, then the browser's. */
  lang?: string;
  /** The panel's title. */
  heading?: string;
  /** Shown in the empty composer. */
  placeholder?: string;
  /** Below it: when the answer comes, for instance. */
  subheading?: string;
  /** Address of the assistant's picture; by default an icon. */
  picture?: string;
  /** Shown before the first message. */
  welcome?: string;
  /** The line below it. */
  "welcome-text"?: string;
  /** First messages to choose from, with `|` between them; the property of that name comes first. */
  suggestions?: string;
  /** The panel is as large as it can be; its button changes it. */
  expanded?: boolean;
  /** Where visitor and thread are stored: for the origin, the tab or the page; by default `local`. */
  storage?: "local" | "session" | "memory";
  /** Which tools are offered: WebMCP's (`page`), those of the property `tools` (`property`), both or none; by default `all`. */
  tools?: "all" | "page" | "property" | "none";
  /** Which tools ask the visitor first; by default those marked `destructiveHint` or `consequentialHint`. */
  "confirm-tools"?: "consequential" | "writes" | "all" | "none";
  /** Names, separated by commas, of the parameters of the page's address that are sent to the service. */
  "page-params"?: string;
  /** Seconds that a tool may take; by default 60. */
  "tool-timeout"?: number | `${number}`;
  /** LaTeX in replies is shown as formulas; a third file is loaded for it. */
  formulas?: boolean;
  /** The composer has a button to dictate, where the browser knows speech. It may send what is said to its maker. */
  dictation?: boolean;
  /** `off`: no sound, and no number in the title of a hidden tab, when a person writes. */
  alerts?: "on" | "off";
  /** `off`: no thumbs on replies. */
  feedback?: "on" | "off";
  /** Characters that a message may have; by default 2,000, like the service's WIDGET_MAX_TEXT_CHARS. */
  "max-chars"?: number | `${number}`;
}

/** A tool's description, in the shape of WebMCP. */
export interface ChatAgentToolShape {
  /** The name by which the agent calls it. */
  name: string;
  /** The name that visitors see. */
  title?: string | undefined;
  /** The description for the model. */
  description?: string | undefined;
  /** JSON Schema of its arguments. */
  inputSchema?: unknown;
  annotations?: ChatAgentToolAnnotations | undefined;
}

/** What a tool does; decides whether it asks the visitor first. */
export interface ChatAgentToolAnnotations {
  readOnlyHint?: boolean;
  /** MCP's name for it; the tool asks first. */
  destructiveHint?: boolean;
  /** WebMCP's name for it; the tool asks first. */
  consequentialHint?: boolean;
}

/** A tool that the page gives to the element. */
export interface ChatAgentTool extends ChatAgentToolShape {
  /**
   * Performs a call. The agent gets what it returns; `{ isError: true, content: [{ type: "text", text }] }` reports a
   * failure. `signal` is aborted when the call is no longer wanted.
   */
  execute(args: Record<string, unknown>, options: { signal: AbortSignal }): unknown;
}

/** A flat map that is sent with every message. */
export type ChatAgentContext = Record<string, string | number | boolean>;

/** What the element is doing. */
export type ChatAgentState =
  | "idle"
  | "sending"
  | "streaming"
  | "tool"
  | "waiting-user"
  | "offline"
  | "blocked"
  | "error";

/** Names of the element's built-in texts. */
export type ChatAgentString =
  | "addFiles"
  | "addImages"
  | "address"
  | "addressLeft"
  | "allow"
  | "always"
  | "answerAgain"
  | "anythingElse"
  | "askPerson"
  | "asks"
  | "assistant"
  | "assistantIsBack"
  | "back"
  | "cancelEdit"
  | "chats"
  | "close"
  | "closeImage"
  | "closed"
  | "copied"
  | "copy"
  | "cut"
  | "cutOff"
  | "decline"
  | "deleteChat"
  | "deleteNo"
  | "deleteQuestion"
  | "deleteYes"
  | "dictate"
  | "dismiss"
  | "done"
  | "dropFiles"
  | "dropImages"
  | "earlier"
  | "editMessage"
  | "expired"
  | "faces"
  | "failed"
  | "failedStep"
  | "feedbackThanks"
  | "fileFailed"
  | "fileNotTaken"
  | "fileTooLarge"
  | "formWaits"
  | "image"
  | "imagesNeedText"
  | "imagesRefused"
  | "imagesTooLarge"
  | "larger"
  | "latest"
  | "leaveAddress"
  | "left"
  | "misconfigured"
  | "more"
  | "newChat"
  | "newMessages"
  | "noChats"
  | "notAnImage"
  | "notSent"
  | "offline"
  | "open"
  | "over"
  | "personAgain"
  | "personAsked"
  | "personClosed"
  | "personIsHere"
  | "personJoined"
  | "personWrites"
  | "placeholder"
  | "question"
  | "queued"
  | "rate"
  | "rateDown"
  | "ratePerson"
  | "rateUp"
  | "reconnecting"
  | "refused"
  | "removeImage"
  | "resumed"
  | "retry"
  | "running"
  | "searchChats"
  | "send"
  | "sendFeedback"
  | "skipFeedback"
  | "slowDown"
  | "smaller"
  | "sources"
  | "steps"
  | "stop"
  | "stopWaiting"
  | "stopped"
  | "subheading"
  | "title"
  | "tooLong"
  | "tooManyFiles"
  | "tooManyImages"
  | "unreachable"
  | "unread"
  | "waiting"
  | "waitingStopped"
  | "welcome"
  | "welcomeText"
  | "whatWasWrong"
  | "writing"
  | "you";

/** A line of a stream. An error of code `interrupted` ends only this stream, not the run: the element reconnects. */
export type ChatAgentLine = Exclude<Line, RestartLine>;

/** Details of the element's events, by name without `chat-agent:`. */
export interface ChatAgentEvents {
  /** The element is in the page. */
  ready: { version: string };
  /** The panel is open. */
  open: Record<string, never>;
  /** The panel is closed. */
  close: Record<string, never>;
  /** `agent.state` has changed. */
  state: { state: ChatAgentState };
  /** The visitor has sent a message, or a reply is over. */
  message: { role: "user" | "assistant"; text: string };
  /** A line of a stream. */
  line: { line: ChatAgentLine };
  /** The agent makes progress; a later step of the same `id` replaces the earlier one. */
  step: { id: string; phase: string; text: string; sources?: { title: string; url: string }[] };
  /** A page tool is about to be called. If prevented, the agent is told that the visitor declined. */
  "before-tool": { tool: string; arguments: Record<string, unknown>; annotations: ChatAgentToolAnnotations };
  /** A page tool has returned. */
  "tool-result": { tool: string; result: unknown; isError: boolean };
  /** A run has succeeded. */
  done: { elapsedMs: number; inputTokens?: number; outputTokens?: number; finishReason?: string };
  /** A run or a request has failed. */
  error: { message: string; status?: number; code?: string; hint?: string };
  /** The visitor follows a link of a reply. If prevented, the page follows it itself. */
  link: { href: string };
  /** The count of unseen replies has changed. */
  unread: { count: number };
  /** A conversation has begun, or another one is shown. */
  thread: { threadId: string };
  /** A visitor was created. */
  visitor: { expiresAt: number };
  /** Who answers changes: when the wait for a person began (Unix ms), or the person's name; both null: the assistant. */
  person: { waitingSince: number | null; name: string | null };
  /** A run continues after a navigation, or after its connection was lost. */
  resumed: { tool: string | null; from: string | null };
}

/** The element's events. All bubble and are composed. */
export type ChatAgentEventMap = {
  [Name in keyof ChatAgentEvents as `chat-agent:${Name}`]: CustomEvent<ChatAgentEvents[Name]>;
};

/** `<chat-agent publishable-key="pk_…">`. */
export declare class ChatAgent extends HTMLElement {
  /** The service's version that the script came with. */
  readonly version: string;
  /** What the element is doing. */
  readonly state: ChatAgentState;
  /** Replies that ended unseen. */
  readonly unreadCount: number;

  /** The page's tools. Setting them replaces the ones set before. */
  tools: ChatAgentTool[];
  /** Only tools for which it returns true are offered. */
  toolFilter: (tool: ChatAgentToolShape) => boolean;
  /** Sent with every message. Throws if a value is not a string, number or boolean. */
  context: ChatAgentContext | null;
  /** First messages to choose from. */
  suggestions: readonly string[];
  /** Messages to choose from after the last reply, until the visitor writes on. */
  followUps: readonly string[];
  /** Replacements for the built-in texts; `{n}` stands for a number. */
  strings: Partial<Record<ChatAgentString, string>>;
  /** The panel is open. */
  open: boolean;
  /** The text in the composer, not sent yet. */
  draft: string;
  /** The conversation that is shown. Setting it shows another one of the visitor; null begins a new one. */
  threadId: string | null;

  /** Opens the panel. */
  show(): void;
  /** Closes the panel. */
  hide(): void;
  /** Opens or closes the panel. */
  toggle(): void;
  /** Moves the focus to the composer, to the question that waits, or to the launcher. */
  override focus(): void;
  /** Sends a message as the visitor; resolves when the run has ended. Rejects if longer than max-chars. */
  send(text: string, options?: { context?: ChatAgentContext }): Promise<void>;
  /** Stops the run. */
  stop(): Promise<void>;
  /** Retries the last message that was not sent, or whose reply failed. */
  retry(): Promise<void>;
  /** Begins a new conversation. */
  newThread(): Promise<void>;
  /** The token by which the page's backend identifies the visitor. Creates a visitor if there is none. */
  getVisitorToken(): Promise<string>;
  /**
   * Replaces the visitor's token with the new one that identify returned when asked to rotate it. Nothing else changes:
   * the conversation, the draft and the other tabs stay.
   */
  setVisitorToken(visitorToken: string): Promise<void>;
  /** Loads the history again: it may hold more after the visitor was identified. */
  refresh(): Promise<void>;
  /** Forgets the visitor and the conversation in this browser: for the page's log-out. */
  reset(): Promise<void>;
  /** Adds a tool, as WebMCP's registerTool does; the signal removes it. */
  registerTool(tool: ChatAgentTool, options?: { signal?: AbortSignal }): void;
  /** Sends the page's tools to the service, if they have changed. */
  refreshTools(): void;
}

/** Properties that a page may set, even before the element is defined. */
export type ChatAgentProperties = Pick<
  ChatAgent,
  "tools" | "toolFilter" | "context" | "suggestions" | "followUps" | "strings" | "open" | "draft" | "threadId"
>;

declare global {
  interface HTMLElementTagNameMap {
    "chat-agent": ChatAgent;
  }
  /** For listeners on the element, its ancestors, the document and the window. */
  interface GlobalEventHandlersEventMap extends ChatAgentEventMap {}
}
