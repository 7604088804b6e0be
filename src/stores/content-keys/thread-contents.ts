import type { TerminalLine } from "../../../machines/line.ts";
import type { Feedback, Message, RunRecord, UserMessage } from "../../domain/message.ts";
import { hashOf } from "../../domain/message-claim.ts";
import type { Telling } from "../../domain/webhook.ts";
import type { Rating, RunSummary, ThreadCommit } from "../../store.ts";
import { isObject } from "../checks.ts";
import { seal } from "./cipher.ts";
import { joined, partMessage, partRun, partTerminal, partUserMessage } from "./contents.ts";
import { isWithoutContent, sealedOf, sealedSnapshot } from "./snapshot.ts";
import type { UserKey, UserKeys } from "./user-keys.ts";

/** The place that a sealed text is bound to: it opens in no other thread, record or field. */
export const placeOf = (uid: string, field: string, id: string): string => `${uid} ${field} ${id}`;

/** A thread's records with their contents sealed by one key. */
export function sealing(uid: string, { keyId, key }: UserKey, keys: Pick<UserKeys, "remember">) {
  const sealAt = (text: string, field: string, id: string) =>
    seal(text, { keyId, key, place: placeOf(uid, field, id) });

  function message(plain: Message): Message {
    const { bare, content } = partMessage(plain);
    const sealed = sealAt(content, "message", plain.id);
    keys.remember(sealed, { uid, place: placeOf(uid, "message", plain.id), opened: content });
    return { ...bare, sealed };
  }

  function userMessage(plain: UserMessage): UserMessage {
    const { bare, content } = partUserMessage(plain);
    const { runId, clientMessageId } = plain;
    const hash =
      clientMessageId === undefined ? {} : { sealedHash: claimHash(hashOf(plain.text), clientMessageId) };
    let sealed: string | undefined;
    return {
      ...bare,
      ...hash,
      // Sealed only when it is read: hardly any commit finds its thread held and has to queue its message.
      get sealed() {
        sealed ??= sealAt(content, "waiting", runId);
        return sealed;
      },
    };
  }

  /** Without colons, because colons join the texts of a claim. */
  function claimHash(hash: string, clientMessageId: string): string {
    return sealAt(hash, "claim", clientMessageId).replaceAll(":", ",");
  }

  function run(plain: RunRecord): RunRecord {
    const { bare, content } = partRun(plain);
    return { ...bare, ...terminal(plain), sealed: sealAt(content, "run", plain.runId) };
  }

  function terminal(of: { runId: string; terminal: TerminalLine | null }) {
    const parted = of.terminal && partTerminal(of.terminal);
    if (parted === null) return {};
    return { terminal: parted.bare, sealedTerminal: sealAt(parted.content, "terminal", of.runId) };
  }

  function telling({ event, endpoints }: Telling): Telling {
    if (Object.keys(event.data).length === 0) return { event, endpoints };
    const data = { sealed: sealAt(JSON.stringify(event.data), "event", event.id) };
    return { event: { ...event, data }, endpoints };
  }

  return {
    sealAt,
    userMessage,

    rating(plain: Rating): Rating {
      const { messageId, feedback, tells } = plain;
      if (feedback?.comment === undefined) return { ...plain, tells: tells.map(telling) };
      const { comment, ...bare } = feedback;
      const sealed = sealAt(comment, "feedback", messageId);
      return { ...plain, feedback: { ...bare, sealed }, tells: tells.map(telling) };
    },

    commit(plain: ThreadCommit): ThreadCommit {
      const { snapshot, run: last, endedRun, orWait, claimsId, tells } = plain;
      return {
        ...plain,
        snapshot: isWithoutContent(snapshot)
          ? snapshot
          : sealedSnapshot(snapshot, sealAt(snapshot, "snapshot", "")),
        run: last && run(last),
        endedRun: endedRun && { ...endedRun, ...terminal(endedRun) },
        messages: plain.messages.map(message),
        orWait: orWait && { ...orWait, message: userMessage(orWait.message) },
        ...(claimsId
          ? { claimsId: { ...claimsId, textHash: claimHash(claimsId.textHash, claimsId.clientMessageId) } }
          : {}),
        ...(tells ? { tells: tells.map(telling) } : {}),
      };
    },
  };
}

/** A thread's records with their contents opened; plain ones stay as they are. */
export function opening(uid: string, keys: UserKeys) {
  const openAt = (sealed: string, kind: string, field: string, id: string) =>
    keys.open(sealed, { uid, kind, place: placeOf(uid, field, id) });
  /** For records that can be set aside (salvage.ts). */
  const openPart = (sealed: string, kind: string, field: string, id: string) =>
    keys.open(sealed, {
      uid,
      kind,
      place: placeOf(uid, field, id),
      isReadOften: field === "message",
      isPart: true,
    });

  async function feedback(stored: Feedback, messageId: string): Promise<Feedback> {
    if (stored.sealed === undefined) return stored;
    const { sealed, ...bare } = stored;
    return { ...bare, comment: await openPart(sealed, "feedback", "feedback", messageId) };
  }

  async function message(stored: Message): Promise<Message> {
    const { sealed, chars: _, ...bare } = stored;
    if (bare.feedback?.sealed !== undefined) bare.feedback = await feedback(bare.feedback, bare.id);
    if (sealed === undefined) return bare;
    return joined(bare, await openPart(sealed, "message", "message", bare.id), "message");
  }

  type Ended = Pick<RunSummary, "runId" | "terminal" | "sealedTerminal">;

  async function terminalOf(
    { runId, terminal, sealedTerminal }: Ended,
    openIt = openAt,
  ): Promise<TerminalLine | null> {
    if (sealedTerminal === undefined || terminal === null) return terminal;
    return joined({ ...terminal }, await openIt(sealedTerminal, "run", "terminal", runId), "run");
  }

  async function summary(stored: RunSummary): Promise<RunSummary> {
    const { sealedTerminal, ...bare } = stored;
    return sealedTerminal === undefined ? stored : { ...bare, terminal: await terminalOf(stored) };
  }

  async function run(stored: RunRecord): Promise<RunRecord> {
    if (stored.sealed === undefined) return stored;
    const { sealed, sealedTerminal: _, ...bare } = stored;
    const whole = { ...bare, terminal: await terminalOf(stored, openPart) };
    return joined(whole, await openPart(sealed, "run", "run", stored.runId), "run");
  }

  return {
    openAt,
    feedback,
    message,
    run,
    summary,

    async userMessage(stored: UserMessage): Promise<UserMessage> {
      if (stored.sealed === undefined) return stored;
      const { sealed, sealedHash: _, ...bare } = stored;
      return joined(
        bare,
        await openPart(sealed, "waiting message", "waiting", stored.runId),
        "waiting message",
      );
    },

    async snapshot<Text extends string | null | undefined>(stored: Text): Promise<Text | string> {
      const sealed = typeof stored === "string" ? sealedOf(stored) : null;
      return sealed === null ? stored : openPart(sealed, "snapshot", "snapshot", "");
    },

    async claimHash(stored: string, clientMessageId: string): Promise<string> {
      const sealed = stored.replaceAll(",", ":");
      return stored.includes(",") ? openAt(sealed, "message id", "claim", clientMessageId) : stored;
    },

    /** `text` is JSON of a ToldEvent. */
    async event(text: string): Promise<string> {
      const event: unknown = JSON.parse(text);
      const data = isObject(event) ? event["data"] : null;
      const sealed = isObject(data) ? data["sealed"] : undefined;
      if (!isObject(event) || typeof sealed !== "string") return text;
      const opened: unknown = JSON.parse(await openAt(sealed, "event", "event", String(event["id"])));
      return JSON.stringify({ ...event, data: opened });
    },
  };
}
