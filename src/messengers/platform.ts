import type { Adapter, Logger, Message } from "chat";
import type { MessengerType } from "../domain/channels/messenger.ts";

/** What this service knows of a platform beside its adapter: its bounds, its limits, and what its errors mean. */
export interface Platform {
  type: MessengerType;
  /** The npm package of the adapter. */
  packageName: string;
  load(settings: Readonly<Record<string, string>>, logger: Logger): Promise<Adapter>;
  /** The longest text of one message as we send it, in Markdown: the platform's bound, less what its own marks may add. */
  mostChars: number;
  /** What counts of a text against `mostChars`. */
  lengthOf: (text: string) => number;
  /** How often a message that is still being written may be edited; null: the platform has no edits. */
  editMs(isDirect: boolean): number | null;
  /** How long its "typing" is shown; null: it has none that can be shown of itself. */
  typingMs: number | null;
  /** Reads the last messages of a chat, so that a post whose answer was lost is found and not repeated; null: the platform shows a bot none. */
  readBack: ((adapter: Adapter, threadId: string, limit: number) => Promise<readonly Message[]>) | null;
  /** What an error of the adapter means. */
  faultOf(error: unknown): Fault;
  /** What is wrong with the account, in sentences; empty: nothing. */
  check(account: CheckedAccount): Promise<string[]>;
}

export interface CheckedAccount {
  settings: Readonly<Record<string, string>>;
  /** Where the platform sends its messages; null: PUBLIC_URL is unset. */
  webhookUrl: string | null;
  /** Asks the platform's API; `problem` instead of an answer if it cannot be reached. */
  ask: (url: string, init?: RequestInit) => Promise<Asked>;
}

export type Asked = { status: number; headers: Record<string, string>; body: unknown } | { problem: string };

/**
 * `wait`: the platform wants less at once. `unknown`: the answer was lost, so it may have been done. `gone`: what should be
 * edited is no longer there. `same`: there was nothing to change. `refused`: it will never be accepted. `failed`: it was not
 * done, and may be tried again.
 */
export type Fault =
  | { type: "wait"; ms: number }
  | { type: "unknown" | "gone" | "same" | "failed" }
  | { type: "refused"; why: string };

const USUAL_WAIT_MS = 5_000;

/** The same for every adapter of the Chat SDK: their errors have codes (@chat-adapter/shared). */
export function faultOfAdapter(error: unknown): Fault {
  const { code, retryAfter } = fieldsOf(error);
  if (code === "RATE_LIMITED") {
    const seconds = typeof retryAfter === "number" ? retryAfter : null;
    return { type: "wait", ms: seconds === null ? USUAL_WAIT_MS : Math.ceil(seconds * 1_000) };
  }
  // A wrong token may be put right, and what waits is sent then.
  if (code === "AUTH_FAILED") return { type: "failed" };
  if (code === "PERMISSION_DENIED") return { type: "refused", why: "the bot may not write there any more" };
  if (code === "NOT_FOUND") return { type: "refused", why: "the platform does not know the chat" };
  if (code === "VALIDATION_ERROR")
    return { type: "refused", why: "the platform does not accept the message" };
  // Whatever else it is, the platform has not said that it did nothing.
  return { type: "unknown" };
}

/** By a status of HTTP. */
export function faultOfStatus(status: number, retryAfterMs: number | null = null): Fault {
  if (status === 429) return { type: "wait", ms: retryAfterMs ?? USUAL_WAIT_MS };
  if (status === 403) return { type: "refused", why: "the bot may not write there any more" };
  if (status === 404) return { type: "refused", why: "the platform does not know the chat" };
  if (status === 400) return { type: "refused", why: "the platform does not accept the message" };
  return { type: "failed" };
}

/** A cast: the adapters are compiled with less strict optional fields than this service. */
export function asAdapter(adapter: object): Adapter {
  return adapter as Adapter;
}

/** The fields of a thrown value. */
export function fieldsOf(error: unknown): Record<string, unknown> {
  if (typeof error !== "object" || error === null) return {};
  const { name, message } = error as { name?: unknown; message?: unknown };
  return { ...error, name, message };
}
