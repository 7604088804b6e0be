import type { TerminalLine } from "../../../machines/line.ts";
import type { Feedback, Message, Speaker, UserMessage } from "../../domain/threads/message.ts";
import type { ToldEvent } from "../../domain/channels/webhook.ts";
import { LockedRecord } from "../../store.ts";
import type { RunSummary } from "../../store.ts";
import { isObject } from "../checks.ts";
import type {
  StoredFeedback,
  StoredMessage,
  StoredRun,
  StoredSummary,
  StoredUserMessage,
} from "../records/stored-records.ts";
import { keyIdOf } from "./cipher.ts";
import { isWithoutContent, sealedOf, sealedSnapshot } from "./snapshot.ts";

/**
 * Which part of each record of a thread is its content, and how it is stored sealed. The rest stays readable: ids, times,
 * states, user ids, names of tools and of people who answer, the model's name, lengths of texts.
 */
export type Field =
  | "message"
  | "feedback"
  | "waiting"
  | "run"
  | "terminal"
  | "snapshot"
  | "part"
  | "images"
  | "claim"
  | "event"
  | "body"
  | "grant";

/** Seals a text of one thread; it opens in the same field of the same record only. */
export interface Seal {
  (text: string, field: Field, id: string): string;
  /** A message, by its number, that is read with each one that follows: as it is stored, and opened. */
  remember(number: number, text: { stored: string; opened: string }): void;
}

/** Opens one. `isPart`: if it is damaged, its record can be set aside. */
export type Open = (sealed: string, field: Field, id: string, isPart?: boolean) => string;

const NOBODY: Speaker = { displayName: null, page: null, customerContext: null };

export function sealedMessage(message: Message, seal: Seal): StoredMessage {
  const { content, steps, attachments, files, calls, turns, handedBack, error, ...bare } = message;
  const text = JSON.stringify({ content, steps, attachments, files, calls, turns, handedBack, error });
  return { ...bare, content: "", chars: content.length, sealed: seal(text, "message", message.id) };
}

export function openedMessage(stored: StoredMessage, open: Open): Message {
  if (stored.sealed === undefined && stored.feedback?.sealed === undefined) return stored;
  const { sealed, chars: _, ...bare } = stored;
  if (bare.feedback) bare.feedback = openedFeedback(bare.feedback, bare.id, open);
  return sealed === undefined ? bare : joined(bare, open(sealed, "message", bare.id), "message");
}

export function sealedFeedback(feedback: Feedback, messageId: string, seal: Seal): StoredFeedback {
  const { comment, ...bare } = feedback;
  return comment === undefined ? bare : { ...bare, sealed: seal(comment, "feedback", messageId) };
}

export function openedFeedback(stored: StoredFeedback, messageId: string, open: Open): Feedback {
  const { sealed, ...bare } = stored;
  return sealed === undefined ? stored : { ...bare, comment: open(sealed, "feedback", messageId) };
}

export function sealedWaiting(message: UserMessage, seal: Seal): StoredUserMessage {
  const { text, speaker, attachments, files, ...bare } = message;
  const sealed = seal(JSON.stringify({ text, speaker, attachments, files }), "waiting", message.runId);
  return { ...bare, text: "", speaker: NOBODY, sealed };
}

export function openedWaiting(stored: StoredUserMessage, open: Open): UserMessage {
  if (stored.sealed === undefined) return stored;
  const { sealed, sealedHash: _, ...bare } = stored;
  return joined(bare, open(sealed, "waiting", bare.runId), "waiting message");
}

export interface SealedText {
  text: string;
  sealed: string;
}

/** `before`: what was sealed of the run the last time; what is the same is not sealed again. */
export function sealedRun(
  run: StoredRun,
  seal: Seal,
  before: SealedText | null,
): { stored: StoredRun; contents: SealedText } {
  const { speaker, turns, lines, runId } = run;
  const text = JSON.stringify({ runId, speaker, turns, lines });
  const contents = before?.text === text ? before : { text, sealed: seal(text, "run", runId) };
  const { sealed } = contents;
  return {
    stored: { ...sealedSummary(run, seal), speaker: NOBODY, turns: [], lines: [], sealed },
    contents,
  };
}

export function openedRun(stored: StoredRun, open: Open): StoredRun {
  if (stored.sealed === undefined) return stored;
  const { sealed, ...bare } = openedSummary(stored, open, true);
  return joined(bare, open(sealed ?? "", "run", stored.runId), "run");
}

/** Of a run, or its short form: the terminal line is sealed. */
export function sealedSummary<Run extends RunSummary>(run: Run, seal: Seal): Run & StoredSummary {
  const { terminal, runId } = run;
  const parted = terminal && partTerminal(terminal);
  if (!parted) return run;
  return { ...run, terminal: parted.bare, sealedTerminal: seal(parted.content, "terminal", runId) };
}

/** `isPart`: the whole run can be set aside. */
export function openedSummary<Run extends StoredSummary>(
  stored: Run,
  open: Open,
  isPart = false,
): Omit<Run, "sealedTerminal"> {
  const { sealedTerminal, ...bare } = stored;
  if (sealedTerminal === undefined || bare.terminal === null) return bare;
  const content = open(sealedTerminal, "terminal", bare.runId, isPart);
  return { ...bare, terminal: joined({ ...bare.terminal }, content, "run") };
}

/** Null: there is nothing to encrypt in it. */
function partTerminal(terminal: TerminalLine): { bare: TerminalLine; content: string } | null {
  switch (terminal.type) {
    case "tool_call":
      return {
        bare: { ...terminal, arguments: {} },
        content: JSON.stringify({ arguments: terminal.arguments }),
      };
    case "error": {
      const { message, hint, ...bare } = terminal;
      return { bare: { ...bare, message: "" }, content: JSON.stringify({ message, hint }) };
    }
    case "done":
      return null;
  }
}

export function snapshotSealed(snapshot: string, seal: Seal): string {
  return isWithoutContent(snapshot) ? snapshot : sealedSnapshot(snapshot, seal(snapshot, "snapshot", ""));
}

export function openedSnapshot(stored: string, open: Open): string {
  const sealed = sealedOf(stored);
  return sealed === null ? stored : open(sealed, "snapshot", "");
}

/** The hash of a claimed message's text. Without colons, because colons join the texts of a claim. */
export function sealedHash(hash: string, clientMessageId: string, seal: Seal): string {
  return seal(hash, "claim", clientMessageId).replaceAll(":", ",");
}

export function openedHash(stored: string, clientMessageId: string, open: Open): string {
  return stored.includes(",") ? open(stored.replaceAll(",", ":"), "claim", clientMessageId) : stored;
}

/** Prefix of a sealed part of a reply: no model writes it. */
const PART = "\u0000";

export function sealedPart(text: string, id: string, seal: Seal): string {
  return `${PART}${seal(text, "part", id)}`;
}

/** Sealed, or by an earlier setting not. */
export const isSealedPart = (stored: string) => stored.startsWith(PART);

export function openedPart(stored: string, id: string, open: Open): string {
  return isSealedPart(stored) ? open(stored.slice(PART.length), "part", id) : stored;
}

export function openedImages(images: string[], runId: string, open: Open): string[] {
  const [first] = images;
  // An image that is not sealed is a URL: data: or https:.
  if (!first?.startsWith("enc:")) return images;
  const opened: unknown = JSON.parse(open(first, "images", runId));
  return Array.isArray(opened) ? opened.map(String) : [];
}

export function sealedEvent(event: ToldEvent, seal: Seal): ToldEvent {
  if (Object.keys(event.data).length === 0) return event;
  return { ...event, data: { sealed: seal(JSON.stringify(event.data), "event", event.id) } };
}

/** `text`: JSON of a ToldEvent. */
export function openedEvent(text: string, open: Open): string {
  const event: unknown = JSON.parse(text);
  const data = isObject(event) ? event["data"] : null;
  const sealed = isObject(data) ? data["sealed"] : undefined;
  if (!isObject(event) || typeof sealed !== "string") return text;
  const opened: unknown = JSON.parse(open(sealed, "event", String(event["id"])));
  return JSON.stringify({ ...event, data: opened });
}

/** The body of an event of a thread. */
export function openedBody(stored: string, id: string, open: Open): string {
  return keyIdOf(stored) === null ? stored : open(stored, "body", id);
}

/** Puts a record's content back. The cipher's tag proves that it was sealed here. */
function joined<Bare extends object>(bare: Bare, content: string, kind: string): Bare {
  const fields: unknown = JSON.parse(content);
  if (!isObject(fields)) throw new LockedRecord(kind, "rest", "its content is no record");
  return Object.assign(bare, fields);
}
