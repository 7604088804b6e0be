import { pause } from "../clock.ts";
import { NOTHING_KEPT } from "../domain/kept-text.ts";
import type { Catalog, Message } from "../domain/message.ts";
import { Refusal } from "../domain/refusal.ts";
import type { HistoryPage, InstanceMessage, RunsRead, Share, Store, ThreadRecord } from "../store.ts";
import { createAnswer } from "./answer.ts";
import type { PageAnswer } from "./answer.ts";
import { createAttach } from "./attach.ts";
import { attachmentAddresses } from "./attachment-addresses.ts";
import { createCancel } from "./cancel.ts";
import { createClaims } from "./claims.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import { createExpire } from "./expire.ts";
import type { Feed } from "./feeds/feed.ts";
import { refuseDeleted } from "./deleted.ts";
import { createForgetting } from "./forgetting.ts";
import type { Forgetting } from "./forgetting.ts";
import { createFeeds } from "./feeds/feeds.ts";
import { createFollowing } from "./following/following.ts";
import { createFollowRun } from "./follow-run.ts";
import { createHeldThreads } from "./held-threads.ts";
import { createLongReplies } from "./long-replies.ts";
import { createLostThreads } from "./lost-threads.ts";
import { createMend } from "./mend.ts";
import { createBringEvent } from "./bring-event.ts";
import { createPeople } from "./people.ts";
import type { People } from "./people.ts";
import { createOnReadable } from "./on-readable.ts";
import { refuseUnreadable } from "./refuse-unreadable.ts";
import { createRate } from "./rate.ts";
import type { GivenFeedback } from "./rate.ts";
import { createRecovery } from "./recovery.ts";
import { createRepeat } from "./repeat.ts";
import type { Reply } from "./reply.ts";
import { createSay } from "./say.ts";
import type { NewMessage } from "./say.ts";
import { createSilence } from "./silence.ts";
import { createTakeUp } from "./take-up.ts";
import { keptPieces } from "./told-in-parts.ts";

/** The threads of this instance: what HTTP asks of them. */
export interface Threads {
  /** Reads a thread early: callers pass what they got on as `loading`. For say() the active run is enough. */
  load(uid: string, runs: RunsRead): Promise<ThreadRecord | null>;
  /** Resolves when the message is stored. Refusal("rate-limited") where too many wait already. */
  say(message: NewMessage, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** Resolves when the result is stored. Refusal("conflict") where it answers no pending call. */
  answer(answer: PageAnswer, loading?: Promise<ThreadRecord | null>): Promise<Reply>;
  /** The active or last run's stream again; null where the thread has had none. */
  follow(uid: string, loading?: Promise<ThreadRecord | null>): Promise<Reply | null>;
  /** The stream of one run, in whatever state it is; null where the thread has no such run. */
  followRun(uid: string, runId: string, loading?: Promise<ThreadRecord | null>): Promise<Reply | null>;
  /** Stops the active run or pending call, wherever it is; also fine where there is none. */
  cancel(uid: string): Promise<void>;
  /** Who answers, where it is not the model. */
  people: People;
  /** Resolves when it is stored. */
  rate(given: GivenFeedback): Promise<void>;
  /** Deletes threads and users, with everything of theirs. */
  forgetting: Pick<Forgetting, "thread" | "user" | "aged">;
  setCatalog(uid: string, slug: string, catalog: Catalog): Promise<void>;
  history(uid: string, page: HistoryPage): Promise<Message[]>;
  /** The text of a reply that the store keeps in parts, piece by piece; rejects where the store does not give all of it. */
  keptText(uid: string, reply: Pick<Message, "runId" | "kept">): AsyncGenerator<string>;
  /** Of a message's attachments, in order; null for an image that is lost. */
  attachmentAddresses(
    uid: string,
    message: Pick<Message, "runId" | "attachments">,
  ): Promise<(string | null)[]>;
  /** A user's threads, the latest activity first. */
  list: Store["listThreads"];
  /**
   * What happens in a thread from the item `after` on; "": from its first item; null: only what is new. Also of a thread
   * that nobody has spoken in.
   */
  openFeed(uid: string, after: string | null): Promise<Feed>;
  /** It takes no more messages, and will stop. */
  isDraining(): boolean;
}

/** The threads with what only the wiring calls. */
export interface RunningThreads extends Threads {
  /** Begins to look after runs whose process is gone, and calls that expire. Resolves after the first look. */
  start(): Promise<void>;
  /** This process's share of what is looked for among all threads. */
  share(): Share;
  /** Threads that this process holds. */
  held(): number;
  /** Streams here that wait in a queue, or follow a run that another instance holds. */
  waiting(): number;
  /** Feeds that are open here. */
  feeds(): number;
  /** A look at the deletions that others have begun; start() lets it happen every few seconds. */
  carryOutDeletions(): Promise<void>;
  /** Takes no more messages, and waits for the runs to end; those that did not within the grace are interrupted and handed over. */
  drain(graceMs: number): Promise<void>;
}

const DRAIN_LOOK_MS = 20;

export function createThreads(dependencies: ThreadDependencies): RunningThreads {
  const { store, clock, timers, log } = dependencies;
  let draining = false;

  const held = createHeldThreads({
    onBegun: (thread) => following.begun(thread),
    onCommitted: (uid, watchers) => feeds.committed(uid, watchers),
    onDoubt: (uid) => lost.suspect(uid),
  });
  const lost = createLostThreads({ store, clock, isOurs: (fence) => held.isOurs(fence) });
  const following = createFollowing({ ...dependencies, held });
  const claims = createClaims({ ...dependencies, longReplies: createLongReplies(dependencies) }, held);
  const mend = createMend({ ...dependencies, claims });
  const onReadable = createOnReadable(mend);
  const feeds = createFeeds(dependencies, onReadable);
  const takeUp = createTakeUp({ ...dependencies, claims, following, mend, isDraining: () => draining });
  const forgetting = createForgetting({
    ...dependencies,
    held,
    following,
    share: () => recovery.share(),
    onErased: (erased) => feeds.committed(erased.uid, erased.watchers),
  });
  const recovery = createRecovery({ ...dependencies, silence: createSilence(clock), lost, takeUp });

  const shared = { ...dependencies, claims, held, following };
  const expire = createExpire({ ...dependencies, claims });
  const attach = createAttach(held, following, store, expire);
  const followRun = createFollowRun({ ...shared, attach });
  const say = createSay({ ...shared, repeat: createRepeat(followRun) });
  const answer = createAnswer({ ...shared, attach, expire });
  const isSilent = (processId: string) => recovery.isSilent(processId);
  const cancel = createCancel({ ...shared, isSilent });
  const bring = createBringEvent({ ...shared, isSilent, onReadable });
  const tellTyping = (uid: string, name: string) => feeds.typing(uid, name);
  const people = createPeople({ ...dependencies, bring, tellTyping });

  function refuseWhileDraining(): void {
    if (draining) throw new Refusal("unavailable", "The service is stopping", 1);
  }

  /** The first reading of a thread whose run is told again: where it is over, long texts stay in the store. */
  function inParts(uid: string, loading: Promise<ThreadRecord | null> | undefined) {
    return loading ?? claims.load(uid, "last-in-parts");
  }

  function receive(message: InstanceMessage): void {
    if (feeds.receive(message) || bring.receive(message) || forgetting.receive(message)) return;
    const isFollowing = following.receive(message);
    const { type, uid, runId } = message;
    if (typeof uid !== "string" || typeof runId !== "string") return;
    const thread = held.get(uid);
    // Whoever asks has read in the store that this process holds it.
    if (!thread) lost.suspect(uid);
    if (!isFollowing && type === "cancel") void thread?.receive({ type: "run.cancelled", runId });
  }

  return {
    load: (uid, runs) => claims.load(uid, runs),

    async say(message, loading) {
      refuseWhileDraining();
      return onReadable(message.uid, (isAgain) => say(message, isAgain ? undefined : loading));
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
    cancel: (uid) => onReadable(uid, () => cancel(uid)),
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
    rate: createRate({ ...dependencies, onReadable }),
    forgetting,

    async setCatalog(uid, slug, catalog) {
      if (!(await store.setCatalog(uid, slug, catalog))) throw refuseDeleted();
      held.get(uid)?.setCatalog(catalog);
    },

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
      // Their readers come back, to an instance that stays; runs are waited for.
      feeds.stop();
      const endsAt = clock.elapsed() + graceMs;
      const isBusy = () => held.size() > 0 || following.readers() > 0;
      while (isBusy() && clock.elapsed() < endsAt) await pause(timers, DRAIN_LOOK_MS);
      recovery.stop();
      forgetting.stop();
      for (const thread of held.all()) thread.interrupt();
      following.stop();
      await store.retire().catch((error: unknown) => {
        log.warn({ err: error }, "cannot retire: the other instances will notice by the silence");
      });
    },
  };
}
