import { holderOf } from "../domain/fence.ts";
import { newId } from "../domain/ids.ts";
import type { Api, Catalog, Message, Speaker, UserMessage } from "../domain/message.ts";
import { Refusal } from "../domain/refusal.ts";
import { StoreUnavailable } from "../store.ts";
import type { HistoryPage, InstanceMessage, ThreadRecord } from "../store.ts";
import { createFollowing } from "./following.ts";
import { LiveThread } from "./live-thread.ts";
import type { Claim, ClaimResult } from "./live-thread.ts";
import { createLongReplies } from "./long-replies.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import { createRecovery } from "./recovery.ts";
import { createReply } from "./reply.ts";
import type { Reply } from "./reply.ts";
import { linesSince, positionAfter } from "./run-log.ts";

export interface NewMessage {
  uid: string;
  slug: string;
  api: Api;
  userId: string;
  speaker: Speaker;
  text: string;
  /** W3C trace context of the request, or null. */
  traceparent: string | null;
}

export interface PageAnswer {
  uid: string;
  slug: string;
  callId: string;
  tool: string;
  /** The result's text, cut to 4,000 characters. */
  text: string;
  isError: boolean;
  /** Where the visitor is now; null: as before. */
  page: string | null;
  traceparent: string | null;
}

/** The threads of this instance: what HTTP asks of them. */
export interface Threads {
  /** Reads a thread early: callers pass what they got on as `loading`. */
  load(uid: string): Promise<ThreadRecord | null>;
  /** Resolves when the message is stored. Refusal("rate-limited") where too many wait already. */
  say(said: NewMessage, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** Resolves when the result is stored. Refusal("conflict") where it answers no pending call. */
  answer(answered: PageAnswer, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** The active or last run's stream again; null where the thread has had none. */
  follow(uid: string, loading?: Promise<ThreadRecord | null>): Promise<Reply | null>;
  /** Stops the active run or pending call, wherever it is; also fine where there is none. */
  cancel(uid: string): Promise<void>;
  setCatalog(uid: string, slug: string, catalog: Catalog): Promise<void>;
  history(uid: string, page: HistoryPage): Promise<Message[]>;
}

/** The threads with what only the wiring calls. */
export interface RunningThreads extends Threads {
  /** Begins to look after runs whose process is gone, and calls that expire. Resolves after the first look. */
  start(): Promise<void>;
  /** Threads that this process holds. */
  held(): number;
  /** Streams here that wait in a queue, or follow a run that another instance holds. */
  waiting(): number;
  /** Takes no more messages, and waits for the runs to end; those that did not within the grace are interrupted and handed over. */
  drain(graceMs: number): Promise<void>;
}

/** How often a claim is tried again on a thread that changed between the load and the claim. */
const MAX_CLAIMS = 20;
/** How long a run's holder may take to obey a cancel: another instance loses the run then, and this one tells of an outage. */
const CANCEL_PATIENCE_MS = 2_000;
const CANCEL_LOOK_MS = 100;

export function createThreads(parts: ThreadDependencies): RunningThreads {
  const { store, clock, limits } = parts;
  const lives = new Map<string, LiveThread>();
  /** Fences that this process means to hold: what the store says is held by others of its fences is lost. */
  const fences = new Set<string>();
  const heldParts = { ...parts, longReplies: createLongReplies(parts) };
  let draining = false;

  const roster = {
    claiming(thread: LiveThread) {
      fences.add(thread.fence);
    },
    claimed(thread: LiveThread, held: boolean) {
      if (held) lives.set(thread.uid, thread);
      else fences.delete(thread.fence);
    },
    begun(thread: LiveThread) {
      following.begun(thread);
    },
    released(thread: LiveThread) {
      fences.delete(thread.fence);
      if (lives.get(thread.uid) === thread) lives.delete(thread.uid);
    },
  };
  const following = createFollowing({ store, log: parts.log, live: (uid) => lives.get(uid) });
  const recovery = createRecovery({
    store,
    clock,
    log: parts.log,
    isOurs: (fence) => fences.has(fence),
    take,
    expire,
  });

  function load(uid: string): Promise<ThreadRecord | null> {
    return store.load(uid, limits.historyBudgetChars);
  }

  function open(
    uid: string,
    slug: string,
    record: ThreadRecord | null,
    traceparent: string | null,
  ): LiveThread {
    return new LiveThread(heldParts, roster, { uid, slug, record, traceparent });
  }

  /** Claims a thread as it is, over and over until the claim was made on what the store holds. */
  async function claimFresh<Result>(
    uid: string,
    loading: Promise<ThreadRecord | null> | undefined,
    attempt: (record: ThreadRecord | null) => Promise<Result | "again">,
  ): Promise<Result> {
    let record = await (loading ?? load(uid));
    for (let claims = 0; claims < MAX_CLAIMS; claims++) {
      const result = await attempt(record);
      if (result !== "again") return result;
      record = await load(uid);
    }
    throw new Refusal("unavailable", "The thread is busy", 1);
  }

  async function say(said: NewMessage, loading?: Promise<ThreadRecord | null>): Promise<Reply> {
    if (draining) throw new Refusal("unavailable", "The service is stopping", 1);
    const { uid, slug, api, userId, speaker, text, traceparent } = said;
    const message: UserMessage = {
      runId: newId(),
      api,
      text,
      userId,
      speaker,
      saidAtMs: clock.now(),
      ...(traceparent === null ? {} : { traceparent }),
    };
    const reply = createReply(message.runId);
    const max = limits.threadQueueMax;

    return claimFresh(uid, loading, async (record) => {
      if (record?.fence) {
        const waits = await store.wait(uid, message, max);
        return waits.type === "free" ? "again" : waitBehind(waits);
      }
      const thread = open(uid, slug, record, traceparent);
      const result = await thread.claim({
        event: thread.userSaid(message),
        message,
        orWait: { message, max },
      });
      if (result.type === "waiting" || result.type === "full") return waitBehind(result);
      if (result.type !== "committed") return "again";
      thread.attach(reply, 0);
      return reply;
    });

    function waitBehind(holder: { type: "waiting"; fence: string } | { type: "full" }): Reply {
      if (holder.type === "full")
        throw new Refusal("rate-limited", "Too many messages wait in this thread", 1);
      // Its run may have begun before the store's answer came back.
      const live = lives.get(uid);
      if (live?.run?.runId === reply.runId) live.attach(reply, 0);
      else following.expect(uid, reply.runId, reply, holder.fence);
      return reply;
    }
  }

  async function answer(answered: PageAnswer, loading?: Promise<ThreadRecord | null>): Promise<Reply> {
    if (draining) throw new Refusal("unavailable", "The service is stopping", 1);
    const { uid, slug, callId, tool, text, isError, page, traceparent } = answered;

    return claimFresh(uid, loading, async (record) => {
      const run = record?.run;
      if (!record || !run) throw new Refusal("conflict", "No call is pending");
      if (run.answered?.callId === callId && run.answered.tool === tool) {
        return attach(record, positionAfter(run.lines.slice(0, run.streamFrom)));
      }
      if (record.state !== "awaiting") throw new Refusal("conflict", "No such call is pending");
      // Held while awaiting: a message that waited is just about to supersede the call.
      if (record.fence) throw new Refusal("conflict", "The call was superseded");

      const thread = open(uid, slug, record, traceparent);
      const result = await thread.claim({
        event: { type: "page.answered", callId, tool, text, isError, atMs: clock.now() },
        page,
      });
      if (result.type === "unchanged") throw new Refusal("conflict", "No such call is pending");
      if (result.type !== "committed") return "again";
      const reply = createReply(run.runId);
      thread.attach(reply, positionAfter(run.lines));
      return reply;
    });
  }

  /** The run of a record again: kept, alive here, or alive elsewhere. "again": it moved meanwhile. */
  function attach(record: ThreadRecord, from: number): Reply | "again" {
    const { run } = record;
    if (!run) return "again";
    const reply = createReply(run.runId);
    if (run.terminal) {
      reply.say([...linesSince(run.lines, from), run.terminal]);
      return reply;
    }
    const live = lives.get(record.uid);
    if (live?.run?.runId === run.runId) live.attach(reply, from);
    else if (record.fence && fences.has(record.fence)) return "again";
    else following.follow(record, run.runId, reply, from);
    return reply;
  }

  async function follow(uid: string, loading?: Promise<ThreadRecord | null>): Promise<Reply | null> {
    return claimFresh<Reply | null>(uid, loading, async (record) => (record?.run ? attach(record, 0) : null));
  }

  async function cancel(uid: string): Promise<void> {
    const begunAt = clock.elapsed();
    for (;;) {
      const live = lives.get(uid);
      if (live) {
        const runId = live.run?.runId;
        const handled = live.receive({ type: "run.cancelled" });
        if (!(await isDone(handled, begunAt + CANCEL_PATIENCE_MS)))
          throw new StoreUnavailable("cancel a run");
        // Unless it was taken from here meanwhile, and goes on elsewhere.
        if (live.run?.runId !== runId || live.run?.outcome) return;
      }
      const record = await load(uid);
      if (!record?.run || record.state === "idle") return;
      const held = record.fence;
      const patient = clock.elapsed() - begunAt < CANCEL_PATIENCE_MS;
      if (held && !recovery.isSilent(holderOf(held)) && patient) {
        store.send(holderOf(held), { type: "cancel", uid, runId: record.run.runId });
        await aLook();
        continue;
      }
      const claim: Claim = { event: { type: "run.cancelled" }, ...(held ? { takesFrom: held } : {}) };
      const result = await open(uid, record.slug, record, null).claim(claim);
      if (result.type === "committed" || result.type === "unchanged") return;
    }
  }

  /** False: the clock says that it takes too long. */
  async function isDone(work: Promise<void>, untilMs: number): Promise<boolean> {
    let done = false;
    const end = work.then(() => void (done = true));
    while (!done && clock.elapsed() < untilMs) await Promise.race([end, aLook()]);
    return done;
  }

  function aLook(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, CANCEL_LOOK_MS).unref());
  }

  /** Takes up a thread whose holder is gone: its run at the last saved step, or its queue. */
  async function take(uid: string, fence: string): Promise<void> {
    const record = await load(uid);
    if (record?.fence !== fence || draining) return;
    const thread = open(uid, record.slug, record, null);
    const result: ClaimResult = await thread.claim({
      event: record.state === "running" ? { type: "run.taken", atMs: clock.now() } : null,
      takesFrom: fence,
    });
    if (result.type !== "committed") return;
    parts.log.info({ uid, runId: record.run?.runId, from: fence }, "took up a run whose process is gone");
    parts.observer.takenOver({ slug: record.slug, uid, runId: record.run?.runId ?? "" });
    following.begun(thread);
  }

  async function expire(uid: string): Promise<void> {
    const record = await load(uid);
    if (record?.state !== "awaiting" || record.fence) return;
    await open(uid, record.slug, record, null).claim({ event: { type: "call.expired", atMs: clock.now() } });
  }

  function receive(message: InstanceMessage): void {
    if (following.take(message)) return;
    if (message["type"] === "cancel") {
      const live = lives.get(String(message["uid"]));
      if (live && live.run?.runId === message["runId"]) void live.receive({ type: "run.cancelled" });
    }
  }

  return {
    load,
    say,
    answer,
    follow,
    cancel,
    history: (uid, page) => store.history(uid, page),

    async setCatalog(uid, slug, catalog) {
      await store.setCatalog(uid, slug, catalog);
      lives.get(uid)?.setCatalog(catalog);
    },

    held: () => lives.size,
    waiting: () => following.readers(),

    async start() {
      store.onMessage(receive);
      await recovery.start();
    },

    async drain(graceMs) {
      draining = true;
      const endsAt = clock.elapsed() + graceMs;
      while ((lives.size > 0 || following.readers() > 0) && clock.elapsed() < endsAt) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      recovery.stop();
      for (const thread of lives.values()) thread.interrupt();
      following.stop();
      await store.retire().catch((error: unknown) => {
        parts.log.warn({ err: error }, "cannot retire: the other instances will notice by the silence");
      });
    },
  };
}
