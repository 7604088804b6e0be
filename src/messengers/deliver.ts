import type { Clock, Timers } from "../clock.ts";
import type { Channel } from "../domain/channels/channel.ts";
import type { ToldEvent } from "../domain/channels/webhook.ts";
import type { Message } from "../domain/threads/message.ts";
import { messageOf } from "../errors.ts";
import type { PlainLog } from "../log.ts";
import type { Delivery, OutboxStore, QueuedEvent, Store, ToldRef } from "../store.ts";
import type { Threads } from "../threads/threads.ts";
import type { MessengerDelivery } from "../webhooks/lane.ts";
import { AccountFault } from "./accounts.ts";
import type { Account, Accounts } from "./accounts.ts";
import { followReply } from "./follow-reply.ts";
import { partsOf } from "./parts.ts";
import { newBody, PostFault, postsOf, progressOf, TakenOver } from "./posts.ts";
import type { Posts } from "./posts.ts";

export interface DeliverDependencies {
  outbox: OutboxStore;
  store: Pick<Store, "channelThread">;
  threads: Pick<Threads, "followRun" | "history" | "keptText">;
  accounts: Pick<Accounts, "open">;
  channel: (slug: string) => Channel | null;
  clock: Clock;
  timers: Timers;
  log: PlainLog;
}

const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** As webhooks: then an event is given up. */
const GIVEN_UP_MS = 3 * 86_400_000;

/** An event of a thread. */
type ThreadRef = ToldRef & { uid: string };

/** An event that is being delivered, with all that it needs. */
interface Delivering {
  ref: ThreadRef;
  atMs: number;
  message: Message;
  account: Account;
  threadId: string;
  posts: Posts;
}

/**
 * Brings what enters a thread to its platform, in order and one event of a thread at a time (webhooks/lane.ts).
 *
 * A user's message is delivered by showing its reply while it is written; the reply's own event then has nothing left to do.
 * What else enters the thread, a person's answer first of all, is posted as it is.
 */
export function createDeliver(dependencies: DeliverDependencies): MessengerDelivery & { stop(): void } {
  const { outbox, store, threads, accounts, channel, clock, log } = dependencies;
  const stopping = new AbortController();
  /** How often the thread's next event failed in a row. */
  const failures = new Map<string, number>();

  /** A thread's events are queued in its order, also those of a process that died: each commit tells what is not queued yet. */
  async function deliver(event: QueuedEvent): Promise<void> {
    const { uid } = event;
    if (uid === null) return outbox.settled(event, null);
    await deliverOne({ ...event, uid });
    failures.delete(uid);
  }

  async function deliverOne(ref: ThreadRef): Promise<void> {
    const delivering = await begin(ref);
    if (!delivering) return outbox.settled(ref, null);
    try {
      if (delivering.posts.progress.ended !== true) await bring(delivering);
      if (delivering.message.role === "user") await settleReply(delivering);
      await outbox.settled(ref, null);
    } catch (error) {
      const why = whyGivenUp(error, delivering);
      if (why === null) throw error;
      log.warn({ channel: ref.slug, uid: ref.uid, reason: why }, "gave up a message to a messenger");
      if (delivering.message.role === "user") await settleReply(delivering);
      await outbox.settled(ref, givenUp(delivering, why));
    }
  }

  /** Null: there is nothing to tell, or nobody to tell it to, any more. */
  async function begin(ref: ThreadRef): Promise<Delivering | null> {
    const { uid, slug } = ref;
    const stored = await outbox.event(ref);
    if (!stored) return null;
    const sealed = stored.type === "sealed" ? stored : await outbox.seal(ref, sealedFrom(stored.text));
    if (!sealed) return null;
    const { atMs, ...progress } = progressOf(sealed);
    const [thread, message] = await Promise.all([
      store.channelThread(slug, uid),
      messageOfThread(uid, progress.messageId),
    ]);
    const known = channel(slug);
    if (!thread || !message || !known) return null;
    const account = await accounts.open(known);
    if (!account) return null;
    const { threadId } = thread;
    return {
      ref,
      atMs,
      message,
      account,
      threadId,
      posts: postsOf({ outbox, clock, log, account, threadId }, ref, sealed),
    };
  }

  async function bring(delivering: Delivering): Promise<void> {
    const { message, posts } = delivering;
    if (message.role === "user") {
      if (message.handledBy !== "person") await bringReply(delivering);
    } else await posts.show(partsFor(delivering, await wholeText(delivering.ref, message)));
    await posts.end();
  }

  /** Shows the reply of a user's message, first as it is written, then as it was stored. */
  async function bringReply(delivering: Delivering): Promise<void> {
    const { ref, message, account, threadId, posts } = delivering;
    const { adapter, platform } = account;
    const isDirect = adapter.isDM?.(threadId) ?? false;
    const editMs = platform.editMs(isDirect);
    let untilMs = 0;
    let isQuiet = editMs === null;
    let typedAt = Number.NEGATIVE_INFINITY;

    function type(): void {
      if (platform.typingMs === null || clock.elapsed() - typedAt < platform.typingMs) return;
      typedAt = clock.elapsed();
      // It only passes the time: nothing depends on it.
      adapter.startTyping(threadId).catch(() => {});
    }

    type();
    const { runId } = message;
    const said = await followReply(
      { ...dependencies, signal: stopping.signal },
      { uid: ref.uid, runId },
      {
        everyMs: editMs ?? platform.typingMs ?? LONGEST_REST_MS,
        stillRuns: type,
        async grown(text) {
          if (isQuiet || clock.elapsed() < untilMs) return;
          try {
            await posts.show(partsFor(delivering, text));
          } catch (error) {
            if (!(error instanceof PostFault)) throw error;
            // The whole of it follows; until then the platform gets what it asked for.
            if (error.fault.type === "wait") untilMs = clock.elapsed() + error.fault.ms;
            else isQuiet = true;
          }
        },
      },
    );
    const reply = await replyOf(delivering);
    const text = reply ? await wholeText(ref, reply.message) : said;
    await posts.show(partsFor(delivering, reply || posts.progress.posts.length > 0 ? text : ""));
  }

  /** The reply's own event is told by that of the message. */
  async function settleReply(delivering: Delivering): Promise<void> {
    const reply = await replyOf(delivering);
    if (reply) await outbox.settled(reply.ref, null);
  }

  /** The reply to a user's message, if it waits to be told. */
  async function replyOf({ ref, message }: Delivering): Promise<{ ref: ToldRef; message: Message } | null> {
    const { uid } = ref;
    for (const nth of await outbox.unsettled(uid, ref.endpoint)) {
      if (Number(nth) <= Number(ref.nth)) continue;
      const next = { ...ref, nth };
      const stored = await outbox.event(next);
      if (!stored) continue;
      const messageId =
        stored.type === "sealed" ? progressOf(stored).messageId : toldFrom(stored.text).messageId;
      const found = await messageOfThread(uid, messageId ?? "");
      if (found?.role === "assistant" && found.runId === message.runId && !found.author)
        return { ref: next, message: found };
    }
    return null;
  }

  async function messageOfThread(uid: string, messageId: string): Promise<Message | null> {
    const before = String(Number(messageId) + 1);
    const [newest] = await threads.history(uid, { limit: 1, before: null });
    if (newest?.id === messageId) return newest;
    const [found] = await threads.history(uid, { limit: 1, before, all: true });
    return found?.id === messageId ? found : null;
  }

  async function wholeText({ uid }: ThreadRef, message: Message): Promise<string> {
    let text = "";
    if (message.kept) for await (const piece of threads.keptText(uid, message)) text += piece;
    return text + message.content;
  }

  function partsFor({ account: { platform } }: Delivering, text: string): string[] {
    return partsOf(text, platform);
  }

  function whyGivenUp(error: unknown, { atMs }: Delivering): string | null {
    if (error instanceof PostFault && error.fault.type === "refused") return error.fault.why;
    if (error instanceof TakenOver || stopping.signal.aborted) return null;
    return clock.now() - atMs > GIVEN_UP_MS ? messageOf(error) : null;
  }

  function givenUp({ message }: Delivering, fault: string): Delivery {
    const event = "message.created";
    return { id: message.id, event, atMs: clock.now(), attempt: 1, status: null, fault, elapsedMs: 0 };
  }

  return {
    deliver,

    restMs({ uid, slug }, error) {
      const name = uid ?? slug;
      if (error instanceof PostFault && error.fault.type === "wait") return error.fault.ms;
      if (stopping.signal.aborted || error instanceof TakenOver) return FIRST_REST_MS;
      const count = failures.get(name) ?? 0;
      failures.set(name, count + 1);
      // An account's own fault is said where it is opened.
      if (!(error instanceof AccountFault) && count % 10 === 0)
        log.warn(
          { channel: slug, uid, reason: messageOf(error) },
          "cannot tell a messenger: it is tried again",
        );
      return Math.min(FIRST_REST_MS * 2 ** Math.min(count, 10), LONGEST_REST_MS);
    },

    stop: () => stopping.abort(new Error("The service is stopping")),
  };
}

function toldFrom(text: string): ToldEvent {
  // A cast: a commit of this service wrote it.
  return JSON.parse(text) as ToldEvent;
}

function sealedFrom(text: string): { id: string; body: string } {
  const { id, type, atMs, messageId = "" } = toldFrom(text);
  return { id, body: newBody({ type, atMs, messageId }) };
}
