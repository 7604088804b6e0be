import type { ThreadEvent } from "../../../machines/thread.ts";
import { threadHost } from "../../charts/charts.ts";
import type { KnownHistory } from "../../agent.ts";
import type { Ranges } from "../../domain/threads/branches.ts";
import type { HistorySummary } from "../../domain/threads/history-summary.ts";
import type { Catalog, RunRecord, UserMessage } from "../../domain/threads/message.ts";
import type { CommitResult, ThreadRecord } from "../../store.ts";
import { DELETED } from "../delete/deleted.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { INTERRUPTED } from "../recover/interrupted.ts";
import { claimedId } from "./claim.ts";
import type { Claim, ClaimResult, ClaimSent, Committed } from "./claim.ts";
import { createActiveTime } from "./active-time.ts";
import type { ActiveTime } from "./active-time.ts";
import { GOES_ON } from "./draft-commit.ts";
import { KnownThread } from "./known-thread.ts";
import type { Planned, ThreadToHold } from "./known-thread.ts";
import type { LongReplies, LongReply } from "./long-replies.ts";
import { createMailbox } from "./mailbox.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Enclosed, PerformedEffect } from "./plan-change.ts";
import type { OpenReply } from "./reply.ts";
import { reportChange } from "./report-change.ts";
import type { RunLog } from "./run-log.ts";
import { NOT_SAVED, saveThread } from "./save-thread.ts";
import { threadStateOf } from "../thread-state.ts";
import { createWork } from "./work.ts";
import type { Work } from "./work.ts";

/** Is called as a held thread is claimed, committed and released. */
export interface HeldThreadRegistry {
  /** A claim was sent: the store may have its fence before this process knows. */
  claiming(thread: HeldThread): void;
  /** The claim has ended; null: its outcome is unknown. */
  claimed(thread: HeldThread, isHeld: boolean | null): void;
  /** A claim here has taken a thread from this fence, which may be one of this process too. */
  taken(fence: string): void;
  /** A commit was made, and answered so. */
  committed(thread: HeldThread, result: Committed): void;
  /** A run began here: readers who wait for it may attach. */
  begun(thread: HeldThread): void;
  /** `record`: as it is now; null: it is not known. */
  released(thread: HeldThread, record: ThreadRecord | null): void;
  deleted(thread: HeldThread): void;
  /** Released here, but the store may still name this process as holder. */
  gaveUp(thread: HeldThread): void;
}

/** The dependencies of all held threads of a process. */
export type HeldThreadDependencies = ThreadDependencies & { longReplies: LongReplies };

const NOTHING_TRACED = {};

/**
 * A thread that this process holds, from claim to release.
 *
 * Each event takes the same way, one at a time: ask the chart, commit the change, and only then send the lines and perform
 * the effects. A delta changes nothing that is saved, and passes in the same tick. Every commit carries the fence of the
 * claim: if another process has taken the thread, the store's answer says so, and this one stops.
 */
export class HeldThread {
  readonly #dependencies: HeldThreadDependencies;
  readonly #registry: HeldThreadRegistry;
  readonly #known: KnownThread;
  readonly #mailbox: Mailbox;
  readonly #work: Work;
  readonly #activeTime: ActiveTime;
  #longReply: LongReply;
  #isOver = false;
  #claimSent: ClaimSent | null = null;

  constructor(dependencies: HeldThreadDependencies, registry: HeldThreadRegistry, thread: ThreadToHold) {
    this.#dependencies = dependencies;
    this.#registry = registry;
    this.#known = new KnownThread(dependencies, thread);
    this.#mailbox = createMailbox((error) => this.#giveUp(error));
    this.#work = createWork(dependencies, {
      uid: this.uid,
      slug: this.slug,
      post: this.#mailbox.post,
      handle: (event, item) => this.#handle(event, { item }),
      pause: () => this.#activeTime.pause(),
      goOn: () => this.#activeTime.goOn(),
      traced: () => this.traceFields,
    });
    this.#longReply = this.#longReplyOf(this.log);
    this.#activeTime = createActiveTime(dependencies, dependencies.limits.runTimeoutMs);
  }

  get uid(): string {
    return this.#known.uid;
  }

  get slug(): string {
    return this.#known.slug;
  }

  get fence(): string {
    return this.#known.fence;
  }

  /** The active run as it was last saved. */
  get run(): RunRecord | null {
    return this.#known.run;
  }

  /** The active run's lines, saved or not. */
  get log(): RunLog {
    return this.#known.log;
  }

  /** The saved position when this process claimed the run: everything before it is the same on every instance. */
  get basePosition(): number {
    return this.#known.basePosition;
  }

  /** The history as far as it is known here. */
  get history(): KnownHistory {
    return this.#known.history;
  }

  get hidden(): Ranges {
    return this.#known.hidden;
  }

  /** Of the request that the last run answered. */
  get traceparent(): string | null {
    return this.#known.traceparent;
  }

  /** The beginning of the history was summarised: the next turn begins with that. */
  setSummary(summary: HistorySummary): void {
    this.#known.setSummary(summary);
  }

  /** Trace fields for log lines about the active run. */
  get traceFields(): object {
    return this.#known.segments?.fields() ?? NOTHING_TRACED;
  }

  /** Claims the thread with its first event. On StoreUnavailable the outcome is unknown. */
  async claim(claim: Claim): Promise<ClaimResult> {
    const planned = this.#planClaim(claim);
    if (claim.event && !planned) return { type: "unchanged" };
    const { takesFrom = null, orWait = null } = claim;
    const { readCatalogId } = this.#known;
    // Only a message may be based on a record that is not the store's (remembered.ts).
    const based = orWait && readCatalogId !== undefined ? { readCatalogId } : {};
    const purpose = { ...GOES_ON, claims: true, takesFrom, orWait, ...based };
    const commit = this.#known.draft(planned, { ...purpose, ...claimedId(claim, planned) });
    // A thread without a run cannot be held: there is nothing to claim.
    if (!commit) return { type: "unchanged" };
    this.#claimSent = { planned, commit };
    return this.#sendClaim(this.#claimSent);
  }

  /** Sends a claim of unknown outcome again: the store applies it once. */
  claimAgain(): Promise<ClaimResult> {
    if (!this.#claimSent) throw new Error("Cannot claim a thread again: it was not claimed yet");
    return this.#sendClaim(this.#claimSent);
  }

  async #sendClaim({ planned, commit }: ClaimSent): Promise<ClaimResult> {
    this.#registry.claiming(this);
    let result: CommitResult | null = null;
    try {
      result = await this.#dependencies.store.commit(commit);
    } finally {
      // Over: another claim has taken the thread from this one before its answer came.
      this.#registry.claimed(this, result && result.type === "committed" && !this.#isOver);
    }
    this.#claimSent = null;
    if (result.type === "committed") {
      if (commit.takesFrom !== null) this.#registry.taken(commit.takesFrom);
      const committed = result;
      this.#registry.committed(this, committed);
      this.#known.saved(commit);
      this.#mailbox.post(() => this.#settle(planned, committed));
    }
    return result;
  }

  /** Gives the thread an event from outside; resolves when it was saved or dropped. */
  receive(event: ThreadEvent): Promise<void> {
    return new Promise((resolve) => {
      this.#mailbox.post(async () => {
        try {
          await this.#handle(event, {});
        } finally {
          resolve();
        }
      });
    });
  }

  /** Sends a reader the active run's lines since `from`, then new ones as they come. */
  attach(reply: OpenReply, from: number): void {
    // This process has given the thread up since it claimed it: the run goes on elsewhere.
    if (this.#isOver && !this.log.terminal) return reply.say([INTERRUPTED]);
    this.#longReply.attach(reply, from);
  }

  /** By the store's record another process has gone on with the thread, and this one has not noticed yet. */
  isLostBy({ fence, rev }: Pick<ThreadRecord, "fence" | "rev">): boolean {
    return fence !== this.fence && rev > this.#known.rev;
  }

  /** The page has registered other tools: the next turn offers these to the model. */
  setCatalog(catalog: Catalog): void {
    this.#known.setCatalog(catalog);
  }

  /** The event that begins a message's run. */
  userSaid(message: UserMessage): ThreadEvent {
    return this.#known.userSaid(message);
  }

  /** Ends the streams and stops working, without a save: another process continues from the last save. */
  interrupt(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#known.segments?.cut("interrupted");
    this.log.cut(INTERRUPTED);
    this.#registry.gaveUp(this);
  }

  /** The thread was deleted: ends its streams, and drops it from memory. */
  forget(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#known.segments?.cut("deleted");
    this.log.cut(DELETED);
    this.#registry.deleted(this);
  }

  /** After a fault in this process: recovery takes the run up from its last save. */
  #giveUp(error: unknown): void {
    const { uid, run } = this;
    const about = { uid, runId: run?.runId, ...this.traceFields };
    this.#dependencies.log.error({ ...about, err: error }, "cannot go on with a thread");
    this.interrupt();
  }

  /** Handles one event. Synchronous if there is nothing to save. */
  #handle(event: ThreadEvent, enclosed: Partial<Enclosed>): void | Promise<void> {
    if (this.#isOver) return;
    if (event.type === "agent.wrote" || event.type === "tool.asked") return this.#passOn(event);
    const planned = this.#plan(event, enclosed);
    if (planned) return this.#save(planned, null);
  }

  /** A delta, or what a call asks the visitor for, passes through the chart to the readers without a save. */
  #passOn(event: ThreadEvent): void {
    const { outcome } = threadHost.decide(this.#known.snapshot, event);
    for (const part of outcome) if (part.kind === "emitted") this.log.say([part.line]);
  }

  #plan(event: ThreadEvent, enclosed: Partial<Enclosed>): Planned | null {
    return this.#known.plan(event, enclosed, {
      cost: () => this.#work.cost(),
      activeMs: ({ activeMs }) => this.#activeTime.soFar(activeMs),
    });
  }

  #planClaim(claim: Claim): Planned | null {
    if (claim.endsUnreadable) return this.#known.planEnd();
    return claim.event ? this.#plan(claim.event, claim) : null;
  }

  /** `startsWaiting`: the run id of the waiting message that the change starts. */
  async #save(planned: Planned, startsWaiting: string | null): Promise<void> {
    const commit = this.#known.draft(planned, { ...GOES_ON, startsWaiting });
    if (!commit) return;
    const { log } = this.#dependencies;
    const about = { uid: this.uid, runId: commit.run?.runId, ...this.traceFields };
    try {
      const result = await saveThread(this.#dependencies, commit, {
        isWanted: () => !this.#isOver,
        onSlow: () => this.log.cut(NOT_SAVED),
      });
      if (result?.type === "committed") this.#registry.committed(this, result);
      if (!result || this.#isOver) return;
      if (result.type === "committed") {
        this.#known.saved(commit);
        return this.#settle(planned, result);
      }
      if (result.type === "deleted") return this.forget();
      log.warn({ ...about, result: result.type }, "another instance holds the thread");
    } catch (error) {
      log.error({ ...about, err: error }, "cannot save a thread");
    }
    this.interrupt();
  }

  /** After a commit: sends the lines, performs the effects, then starts the next message or releases the thread. */
  #settle(planned: Planned | null, result: Committed): void | Promise<void> {
    if (this.#isOver) return;
    this.#known.rev = result.rev;
    // While the message waited, the page may have registered other tools through any instance.
    if (result.catalog) this.setCatalog(result.catalog);
    if (planned) this.#adopt(planned);
    if (this.#known.isRunning) {
      for (const effect of planned?.change.effects ?? []) this.#perform(effect);
      return;
    }
    if (result.next) return this.#beginWaiting(result.next);
    // The thread stays held in the store until an instance sets that message aside, or can read it (take-up.ts).
    if (result.unreadableNext) return this.#giveUp(result.unreadableNext);
    this.#stop();
    this.#registry.released(this, this.#known.record());
  }

  #beginWaiting(message: UserMessage): void | Promise<void> {
    this.#known.traceparent = message.traceparent ?? null;
    const planned = this.#plan(this.userSaid(message), { message });
    if (planned) return this.#save(planned, message.runId);
  }

  #adopt(planned: Planned): void {
    const { change, answerer } = planned;
    const before = this.#known.snapshot.context.person;
    if (!goesOn(planned)) this.#work.leave();
    if (this.#known.adopt(planned)) {
      this.#longReply = this.#longReplyOf(this.log);
      this.#registry.begun(this);
    }
    if (change.run) this.#setTimeout(change.run);
    this.log.say(change.lines);
    reportChange(
      this.#dependencies,
      { uid: this.uid, slug: this.slug, rev: this.#known.rev },
      change,
      answerer && { ...answerer, before },
    );
  }

  #setTimeout(run: RunRecord): void {
    if (!this.#known.isRunning) return this.#activeTime.rest();
    const { runId } = run;
    const message = "The run took longer than it may";
    const event: ThreadEvent = { type: "run.failed", runId, message, code: null };
    this.#activeTime.count(run, () => void this.receive(event));
  }

  #perform(effect: PerformedEffect): void {
    const turn = () => this.#known.nextTurn();
    this.#work.perform(effect, { log: this.log, longReply: this.#longReply, turn });
  }

  #longReplyOf(log: RunLog): LongReply {
    const { uid, fence } = this;
    return this.#dependencies.longReplies.of({ uid, fence, isOver: () => this.#isOver }, log);
  }

  #stop(): void {
    this.#isOver = true;
    this.#work.leave();
    this.#activeTime.rest();
  }
}

/** One of several calls was answered, or a message waits: the work that is under way goes on. */
function goesOn({ event, change, next }: Planned): boolean {
  if (event?.type !== "tool.returned" && event?.type !== "run.steered") return false;
  return threadStateOf(next.value) === "running" && change.effects.length === 0;
}
