import { pause } from "../clock.ts";
import { NOTHING_KEPT } from "../domain/threads/kept-text.ts";
import type { Catalog, Message } from "../domain/threads/message.ts";
import { Refusal } from "../domain/refusal.ts";
import type { HistoryPage, InstanceMessage, RunsRead, Share, Store, ThreadRecord } from "../store.ts";
import { createAnswer } from "./say/answer.ts";
import type { PageAnswer } from "./say/answer.ts";
import { createAttach } from "./say/attach.ts";
import { createThreadFiles } from "./say/files.ts";
import type { ThreadFiles } from "./say/files.ts";
import { attachmentAddresses } from "./say/attachment-addresses.ts";
import { createCancel } from "./say/cancel.ts";
import { createClaims } from "./hold/claims.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import { createExpire } from "./say/expire.ts";
import type { Feed } from "./feeds/feed.ts";
import { refuseDeleted } from "./delete/deleted.ts";
import { createForgetting } from "./delete/forgetting.ts";
import type { Forgetting } from "./delete/forgetting.ts";
import { createFeeds } from "./feeds/feeds.ts";
import { createFollowing } from "./following/following.ts";
import { createApprove } from "./say/approve.ts";
import type { Decided } from "./say/approve.ts";
import { createMessageBehind } from "./say/while-running.ts";
import { createFollowRun } from "./say/follow-run.ts";
import { createHeldThreads } from "./hold/held-threads.ts";
import { createLongReplies } from "./hold/long-replies.ts";
import { createLostThreads } from "./recover/lost-threads.ts";
import { createMend } from "./recover/mend.ts";
import { createBringEvent } from "./handoff/bring-event.ts";
import { createDesk } from "./desk/desk.ts";
import type { DeskOfThreads } from "./desk/desk.ts";
import { createPeople } from "./handoff/people.ts";
import type { People } from "./handoff/people.ts";
import { createOnReadable } from "./recover/on-readable.ts";
import { refuseUnreadable } from "./recover/refuse-unreadable.ts";
import { createRate } from "./say/rate.ts";
import type { GivenFeedback } from "./say/rate.ts";
import { createRecovery } from "./recover/recovery.ts";
import { createRemembered } from "./hold/remembered.ts";
import { createRepeat } from "./say/repeat.ts";
import type { Reply } from "./hold/reply.ts";
import { createSay } from "./say/say.ts";
import type { AnotherReply, NewMessage } from "./say/say.ts";
import { createInstruct, createSpeak } from "./say/speak.ts";
import type { Instructed, Spoken } from "./say/speak.ts";
import { createStoreClock } from "./store-clock.ts";
import { createSummaries } from "./summaries/summaries.ts";
import { createSilence } from "./recover/silence.ts";
import { createStops } from "./say/stops.ts";
import { createTakeUp } from "./recover/take-up.ts";
import { keptPieces } from "./say/told-in-parts.ts";

/** `to-say`: maybe as this instance knows the thread (Claims.loadToSay); nothing may be shown of it. */
export type ThreadReading = RunsRead | "to-say";

/** The threads of this instance, as HTTP uses them. */
export interface Threads {
  /** Starts reading a thread early: pass the promise on as `loading`. `to-say`: for say(), which needs less. */
  load(uid: string, reading: ThreadReading): Promise<ThreadRecord | null>;
  /** Resolves when the message is stored. Refusal("rate-limited") if the thread's queue is full. */
  say(message: NewMessage, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** A message is answered once more, in a new branch (say/say.ts). */
  answerAgain(asked: AnotherReply): Promise<Reply>;
  /** Resolves when the result is stored. Refusal("conflict") if it answers no pending call. */
  answer(answer: PageAnswer, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** Reopens the active or last run's stream; null if the thread has had no run. */
  follow(uid: string, loading?: Promise<ThreadRecord | null>): Promise<Reply | null>;
  /** The stream of one run, in any state; null if the thread has no such run. */
  followRun(uid: string, runId: string, loading?: Promise<ThreadRecord | null>): Promise<Reply | null>;
  /** Stops the active run or pending call, on whichever instance; does nothing if there is none. */
  cancel(uid: string, runId?: string | null): Promise<void>;
  /** People who answer instead of the model. */
  people: People;
  /** The service speaks of its own accord (say/speak.ts). */
  speak(spoken: Spoken): Promise<string>;
  /** The service has its model speak of its own accord (say/speak.ts). */
  instruct(instructed: Instructed): Promise<string>;
  /** A call that waits for approval is made, or is not (say/approve.ts). */
  approve(decided: Decided): Promise<void>;
  /** What is kept beside conversations. */
  desk: DeskOfThreads;
  /** Resolves when the rating is stored. */
  rate(given: GivenFeedback): Promise<void>;
  /** Deletes threads and users, with all their data. */
  forgetting: Pick<Forgetting, "thread" | "user" | "aged">;
  setCatalog(uid: string, slug: string, catalog: Catalog): Promise<void>;
  history(uid: string, page: HistoryPage): Promise<Message[]>;
  /** The text of a reply that is stored in parts, piece by piece; rejects if the store lacks some of it. */
  keptText(uid: string, reply: Pick<Message, "runId" | "kept">): AsyncGenerator<string>;
  /** The addresses of a message's attachments, in order; null for a lost image. */
  attachmentAddresses(
    uid: string,
    message: Pick<Message, "runId" | "attachments">,
  ): Promise<(string | null)[]>;
  files: ThreadFiles;
  /** A user's threads, the latest activity first. */
  list: Store["listThreads"];
  /**
   * Opens the feed of a thread after the item `after`; "": from its first item; null: only new items. The thread may be
   * empty.
   */
  openFeed(uid: string, after: string | null): Promise<Feed>;
  /** True once the instance accepts no more messages because it is stopping. */
  isDraining(): boolean;
}

/** The threads, with what only the wiring calls. */
export interface RunningThreads extends Threads {
  /** Starts the sweep for runs of dead processes and for expired calls. Resolves after the first sweep. */
  start(): Promise<void>;
  /** This process's share of searches over all threads. */
  share(): Share;
  /** How many threads this process holds. */
  held(): number;
  /** How many streams here wait in a queue, or follow a run that another instance holds. */
  waiting(): number;
  /** How many feeds are open here. */
  feeds(): number;
  /** Looks at the planned deletions now; after start() this happens every few seconds. */
  carryOutDeletions(): Promise<void>;
  /** Accepts no more messages, and waits for the runs; those that outlast the grace period are left to other instances. */
  drain(graceMs: number): Promise<void>;
}

const DRAIN_LOOK_MS = 20;

export function createThreads(given: ThreadDependencies): RunningThreads {
  const { store, timers, log } = given;
  const clock = createStoreClock(store, given.clock);
  const dependencies = { ...given, clock };
  let draining = false;

  const remembered = createRemembered(clock, dependencies.limits);
  const held = createHeldThreads({
    onBegun: (thread) => following.begun(thread),
    onCommitted(uid, { watchers, unqueued = [] }) {
      feeds.committed(uid, watchers);
      if (unqueued.length > 0) given.told?.(unqueued);
    },
    onDoubt: (uid) => lost.suspect(uid),
    onReleased: (thread) => summaries.released(thread),
    remembered,
  });
  const summaries = createSummaries({
    ...dependencies,
    onKept(uid, summary) {
      held.get(uid)?.setSummary(summary);
      remembered.summarized(uid, summary);
    },
  });
  const lost = createLostThreads({ store, clock, isOurs: (fence) => held.isOurs(fence) });
  const following = createFollowing({ ...dependencies, held });
  const longReplies = createLongReplies(dependencies);
  const claims = createClaims({ ...dependencies, longReplies }, held, remembered);
  const mend = createMend({ ...dependencies, claims });
  const onReadable = createOnReadable(mend);
  const feeds = createFeeds(dependencies, onReadable);
  const silence = createSilence(clock);
  const stops = createStops({ ...dependencies, others: () => silence.known() });
  const takeUp = createTakeUp({
    ...dependencies,
    claims,
    following,
    mend,
    stops,
    isDraining: () => draining,
  });
  const forgetting = createForgetting({
    ...dependencies,
    held,
    remembered,
    following,
    share: () => recovery.share(),
    onErased: (erased) => feeds.committed(erased.uid, erased.watchers),
  });
  const recovery = createRecovery({ ...dependencies, silence, lost, takeUp });

  const shared = { ...dependencies, claims, held, following };
  const expire = createExpire({ ...dependencies, claims });
  const attach = createAttach(held, following, store, expire);
  const followRun = createFollowRun({ ...shared, attach });
  const answer = createAnswer({ ...shared, attach, expire, setCatalog });
  const isSilent = (processId: string) => recovery.isSilent(processId);
  const cancel = createCancel({ ...shared, isSilent, stops });
  const behind = createMessageBehind({ ...shared, cancel });
  const { say, answerAgain } = createSay({ ...shared, repeat: createRepeat(followRun), behind });
  const bring = createBringEvent({ ...shared, isSilent, onReadable, stops });
  const tellTyping = (uid: string, name: string) => feeds.typing(uid, name);
  const people = createPeople({ ...dependencies, bring, tellTyping });
  const speak = createSpeak({ bring, store });
  const instruct = createInstruct({ ...dependencies, bring });
  const approve = createApprove({ bring, clock });
  const desk = createDesk(dependencies);
  const files = createThreadFiles(dependencies);

  function refuseWhileDraining(): void {
    if (draining) throw new Refusal("unavailable", "The service is stopping", 1);
  }

  async function setCatalog(uid: string, slug: string, catalog: Catalog): Promise<void> {
    if (!(await store.setCatalog(uid, slug, catalog))) throw refuseDeleted();
    held.get(uid)?.setCatalog(catalog);
    remembered.forget(uid);
  }

  /** The first reading of a thread whose run is sent again: if the run is over, long text stays in the store. */
  function inParts(uid: string, loading: Promise<ThreadRecord | null> | undefined) {
    return loading ?? claims.load(uid, "last-in-parts");
  }

  function receive(message: InstanceMessage): void {
    if (feeds.receive(message) || bring.receive(message) || forgetting.receive(message)) return;
    if (stops.receive(message) || behind.receive(message)) return;
    const isFollowing = following.receive(message);
    const { type, uid, runId } = message;
    if (typeof uid !== "string" || typeof runId !== "string") return;
    const thread = held.get(uid);
    // The sender has read in the store that this process holds the thread.
    if (!thread) lost.suspect(uid);
    const by = message["by"] === "message" ? "message" : undefined;
    if (!isFollowing && type === "cancel") void thread?.receive({ type: "run.cancelled", runId, by });
  }

  return {
    load: (uid, reading) => (reading === "to-say" ? claims.loadToSay(uid) : claims.load(uid, reading)),

    async say(message, loading) {
      refuseWhileDraining();
      return onReadable(message.uid, (isAgain) => say(message, isAgain ? undefined : loading));
    },

    async answerAgain(asked) {
      refuseWhileDraining();
      return onReadable(asked.uid, () => answerAgain(asked));
    },

    async answer(result, loading) {
      refuseWhileDraining();
      return onReadable(result.uid, (isAgain) => answer(result, isAgain ? undefined : loading));
    },

    follow: (uid, loading) =>
      onReadable(uid, (isAgain) =>
        claims.onFresh<Reply | null>(uid, inParts(uid, isAgain ? undefined : loading), async (record) => {
          refuseUnreadable(record);
          return record?.run ? attach(record, 0) : null;
        }),
      ),

    followRun: (uid, runId, loading) =>
      onReadable(uid, (isAgain) => followRun(uid, runId, inParts(uid, isAgain ? undefined : loading))),
    cancel: (uid, runId = null) => onReadable(uid, () => cancel(uid, runId)),
    history: (uid, page) => onReadable(uid, () => store.history(uid, page)),
    keptText: (uid, { runId, kept }) => keptPieces(store, { uid, runId, kept: kept ?? NOTHING_KEPT }),
    attachmentAddresses: (uid, message) => attachmentAddresses(store, uid, message),
    list: (page) => store.listThreads(page),

    async openFeed(uid, after) {
      refuseWhileDraining();
      return feeds.open(uid, after);
    },

    isDraining: () => draining,

    people,
    speak,
    instruct,
    approve,
    desk,
    files: {
      async keep(upload) {
        refuseWhileDraining();
        return files.keep(upload);
      },
      async keepAll(message, documents) {
        refuseWhileDraining();
        return files.keepAll(message, documents);
      },
      get: files.get,
    },
    rate: createRate({ ...dependencies, onReadable }),
    forgetting,

    setCatalog,

    share: () => recovery.share(),
    held: () => held.size(),
    waiting: () => following.readers(),
    feeds: () => feeds.size(),
    carryOutDeletions: () => forgetting.look(),

    async start() {
      store.onMessage(receive);
      forgetting.start();
      await recovery.start();
    },

    async drain(graceMs) {
      draining = true;
      // Readers of feeds reconnect to another instance. Runs are waited for.
      feeds.stop();
      const endsAt = clock.elapsed() + graceMs;
      const isBusy = () => held.size() > 0 || following.readers() > 0;
      while (isBusy() && clock.elapsed() < endsAt) await pause(timers, DRAIN_LOOK_MS);
      recovery.stop();
      forgetting.stop();
      summaries.stop();
      for (const thread of held.all()) thread.interrupt();
      following.stop();
      await store.retire().catch((error: unknown) => {
        log.warn({ err: error }, "cannot retire: the other instances will notice by the silence");
      });
    },
  };
}
