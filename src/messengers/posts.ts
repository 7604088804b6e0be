import { hash } from "node:crypto";
import type { Clock } from "../clock.ts";
import { newId } from "../domain/ids.ts";
import type { PlainLog } from "../log.ts";
import type { OutboxStore, SealedEvent, ToldRef } from "../store.ts";
import type { Account } from "./accounts.ts";
import type { Fault } from "./platform.ts";
import { within } from "./within.ts";

/**
 * The messages at the platform that tell one event, in order. Each is noted in the store before it is posted, and again with
 * the platform's id: so who goes on after a death knows which are there, and which may be.
 */
export interface Post {
  /** Null: it was begun, and whether the platform has it is unknown. */
  id: string | null;
  /** Of the text that it was given last, as far as that was noted. */
  sum: string;
  /** The first letters of it, by which it is found again. */
  begins: string;
  /** When it was begun, and by whom: no two processes note the same. */
  atMs: number;
  by: string;
}

/** What is noted of an event. */
export interface Progress {
  messageId: string;
  posts: Post[];
  /** Everything was posted: only the event is to be removed. */
  ended?: true;
}

/** The event was taken over by another process. */
export class TakenOver extends Error {
  constructor() {
    super("Another process delivers to this thread");
    this.name = "TakenOver";
  }
}

/** What the platform did with a request. */
export class PostFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, cause: unknown) {
    super(`The platform did not take a message: ${fault.type === "refused" ? fault.why : fault.type}`, {
      cause,
    });
    this.name = "PostFault";
    this.fault = fault;
  }
}

const ANSWER_MS = 30_000;
const FOUND_AMONG = 30;
const BEGIN_CHARS = 60;
/** By how much the platform's clock may be behind: an older message of the same words is another one. */
const CLOCKS_DIFFER_MS = 2_000;

export interface Posts {
  readonly progress: Progress;
  /** Makes the platform's messages those of these parts: posts what is not there yet, edits what differs. */
  show(parts: readonly string[]): Promise<void>;
  /** Notes that all is posted. */
  end(): Promise<void>;
}

export function postsOf(
  {
    outbox,
    clock,
    log,
    account,
    threadId,
  }: { outbox: OutboxStore; clock: Clock; log: PlainLog; account: Account; threadId: string },
  ref: ToldRef,
  stored: SealedEvent,
): Posts {
  const { adapter, platform } = account;
  const by = newId();
  let sealed = stored;
  let progress: Progress = progressOf(stored);

  /** Fails if another process wrote since: then nothing more may be posted here. */
  async function note(next: Progress): Promise<void> {
    const body = bodyOf(next, sealed.body);
    if (!(await outbox.reseal(ref, sealed, body))) throw new TakenOver();
    sealed = { ...sealed, body };
    progress = next;
  }

  const withPost = (nth: number, post: Post) => ({ ...progress, posts: progress.posts.with(nth, post) });

  async function asked<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await within(ANSWER_MS, work());
    } catch (error) {
      throw new PostFault(platform.faultOf(error), error);
    }
  }

  async function post(nth: number, text: string): Promise<void> {
    const begun: Post = { id: null, sum: sumOf(text), begins: beginOf(text), atMs: clock.now(), by };
    if (nth === progress.posts.length) await note({ ...progress, posts: [...progress.posts, begun] });
    try {
      const { id } = await asked(() => adapter.postMessage(threadId, { markdown: text }));
      await note(withPost(nth, { ...begun, id }));
    } catch (error) {
      const isUndone = error instanceof PostFault && error.fault.type !== "unknown";
      if (isUndone) await note({ ...progress, posts: progress.posts.slice(0, nth) });
      throw error;
    }
  }

  async function edit(nth: number, { id, ...known }: Post & { id: string }, text: string): Promise<void> {
    const sum = sumOf(text);
    if (known.sum === sum) return;
    try {
      await asked(() => adapter.editMessage(threadId, id, { markdown: text }));
    } catch (error) {
      if (!(error instanceof PostFault)) throw error;
      // It was removed at the platform: what is still to be said comes anew.
      if (error.fault.type === "gone") return post(nth, text);
      if (error.fault.type !== "same") throw error;
    }
    // Not noted in the store: who goes on after a death edits it once more, which changes nothing.
    progress = withPost(nth, { ...known, id, sum });
  }

  /** A post whose answer was lost: is it there? */
  async function found({ begins, atMs }: Post): Promise<string | null> {
    const { readBack } = platform;
    if (readBack === null) {
      log.info(
        { channel: ref.slug, uid: ref.uid },
        "a message to a messenger may come twice: its answer was lost",
      );
      return null;
    }
    const taken = new Set(progress.posts.map(({ id }) => id));
    const messages = await asked(() => readBack(adapter, threadId, FOUND_AMONG));
    const mine = messages.filter(
      ({ id, author, metadata }) =>
        author.isMe && !taken.has(id) && metadata.dateSent.getTime() >= atMs - CLOCKS_DIFFER_MS,
    );
    return mine.findLast(({ text }) => beginOf(text).startsWith(begins))?.id ?? null;
  }

  return {
    get progress() {
      return progress;
    },

    async show(parts) {
      for (const [nth, text] of parts.entries()) {
        let known = progress.posts[nth];
        if (known?.id === null) {
          const id = await found(known);
          if (id === null) {
            await post(nth, text);
            continue;
          }
          // What it was given is unknown.
          known = { ...known, id, sum: "" };
          await note(withPost(nth, known));
        }
        if (known === undefined) await post(nth, text);
        else if (known.id !== null) await edit(nth, { ...known, id: known.id }, text);
      }
    },

    end: () => note({ ...progress, ended: true }),
  };
}

/** A body as webhooks have it: whoever reads the outbox finds type and time. */
export function newBody(about: { type: string; atMs: number; messageId: string }): string {
  const { type, atMs, messageId } = about;
  const progress: Progress = { messageId, posts: [] };
  return JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data: progress });
}

export function progressOf({ body }: SealedEvent): Progress & { atMs: number } {
  // A cast: only this file writes such a body.
  const { data, timestamp } = JSON.parse(body) as { data: Progress; timestamp: string };
  return { ...data, atMs: Date.parse(timestamp) };
}

function bodyOf({ messageId, posts, ended }: Progress, before: string): string {
  const { type, timestamp } = JSON.parse(before) as { type: string; timestamp: string };
  return JSON.stringify({ type, timestamp, data: { messageId, posts, ...(ended ? { ended } : {}) } });
}

function sumOf(text: string): string {
  return hash("sha256", text).slice(0, 16);
}

/** Letters and digits alone: platforms write Markdown in a form of their own. */
function beginOf(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, "").slice(0, BEGIN_CHARS);
}
