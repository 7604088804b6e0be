import type { Usage } from "../../../machines/run.ts";
import type { ThreadEvent } from "../../../machines/thread.ts";
import type { Turn } from "../../agent.ts";
import { newFence } from "../../domain/threads/fence.ts";
import type { MessageClaim } from "../../domain/threads/message-claim.ts";
import type { Catalog, Message, RunRecord, UserMessage } from "../../domain/threads/message.ts";
import type { CommitResult, ThreadCommit, ThreadRecord } from "../../store.ts";
import { createActiveTime } from "./active-time.ts";
import type { ActiveTime } from "./active-time.ts";
import { threadHost } from "../../charts/charts.ts";
import type { ThreadSnapshot } from "../../charts/charts.ts";
import type { ThreadDependencies } from "../dependencies.ts";
import { draftCommit, GOES_ON } from "./draft-commit.ts";
import type { CommitPurpose } from "./draft-commit.ts";
import { DELETED } from "../delete/deleted.ts";
import { endUnreadable } from "../recover/end-unreadable.ts";
import { INTERRUPTED } from "../recover/interrupted.ts";
import type { LongReplies, LongReply } from "./long-replies.ts";
import { createMailbox } from "./mailbox.ts";
import type { Mailbox } from "./mailbox.ts";
import { nextTurn } from "./next-turn.ts";
import { planChange } from "./plan-change.ts";
import type { Enclosed, PerformedEffect, PlannedChange } from "./plan-change.ts";
import type { OpenReply } from "./reply.ts";
import { reportChange } from "./report-change.ts";
import { createRunLog } from "./run-log.ts";
import type { RunLog } from "./run-log.ts";
import { NOT_SAVED, saveThread } from "./save-thread.ts";
import { createSegments } from "./segments.ts";
import type { Segments } from "./segments.ts";
import { threadStateOf } from "../thread-state.ts";
import type { Segment } from "../../trace.ts";
import { createWork } from "./work.ts";
import type { Work } from "./work.ts";

/** A planned change, and the chart's snapshot after it. */
interface Planned {
  change: PlannedChange;
  next: ThreadSnapshot;
  event: ThreadEvent | null;
  /** The trace segment that begins with it. */
  segment: Segment | null;
}

export interface Claim extends Partial<Enclosed> {
  /** null: the chart is not asked; the thread is claimed to run its queue. */
  event: ThreadEvent | null;
  /** The thread's state could not be read: its active run ends (end-unreadable.ts). */
  endsUnreadable?: true;
  takesFrom?: string;
  orWait?: { message: UserMessage; max: number };
  /** The client's id of the text that comes with `person.said`; its item is the one that this claim adds. */
  claimsId?: Omit<MessageClaim, "runId">;
}

/** The claim's result: the store's answer, or `unchanged` if the chart has no transition for the event. */
export type ClaimResult = CommitResult | { type: "unchanged" };

export type Committed = Extract<CommitResult, { type: "committed" }>;

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
  /** `record`: as it is now; null: it is not known, or was deleted. */
  released(thread: HeldThread, record: ThreadRecord | null): void;
  /** Released here, but the store may still name this process as holder. */
  gaveUp(thread: HeldThread): void;
}

/** A change and its commit; sent again unchanged if the outcome is unknown. */
interface ClaimSent {
  planned: Planned | null;
  commit: ThreadCommit;
}

/** The dependencies of all held threads of a process. */
export type HeldThreadDependencies = ThreadDependencies & { longReplies: LongReplies };

/** The client's id is claimed for the item that the change adds to the history. */
function claimedId({ claimsId }: Claim, planned: Planned | null): Pick<ThreadCommit, "claimsId"> {
  const [item] = planned?.change.messages ?? [];
  return claimsId && item ? { claimsId: { ...claimsId, runId: item.runId } } : {};
}

/** Events that may end a run in the middle of a turn are told what that turn has cost so far. */
function withCost(event: ThreadEvent, cost: () => Usage | null): ThreadEvent {
  const mayEndATurn =
    event.type === "run.failed" ||
    event.type === "run.cancelled" ||
    event.type === "person.asked" ||
    event.type === "person.took";
  return mayEndATurn ? { ...event, usage: event.usage ?? cost() } : event;
}

const NOTHING_TRACED = {};

const NOTHING_ENCLOSED: Enclosed = { item: null, message: null, page: null };

/**
 * A thread that this process holds, from claim to release.
 *
 * Each event takes the same way, one at a time: ask the chart, commit the change, and only then send the lines and perform
 * the effects. A delta changes nothing that is saved, and passes in the same tick. Every commit carries the fence of the
 * claim: if another process has taken the thread, the store's answer says so, and this one stops.
 */
export class HeldThread {
  readonly uid: string;
  readonly slug: string;
  readonly fence: string;
  /** The active run as it was last saved. */
  run: RunRecord | null;
  /** The active run's lines, saved or not. */
  log: RunLog;
  /** The saved position when this process claimed the run: everything before it is the same on every instance. */
  basePosition: number;

  readonly #dependencies: HeldThreadDependencies;
  readonly #registry: HeldThreadRegistry;
  readonly #mailbox: Mailbox;
  readonly #work: Work;
  readonly #activeTime: ActiveTime;
  /** null: traces are off. */
  readonly #segments: Segments | null;
  #longReply: LongReply;
  #snapshot: ThreadSnapshot;
  #rev: number;
  /** The last operation in the record that this thread was opened with. */
  readonly #readOp: string | null;
  #history: Message[];
  #messageCount: number;
  #catalog: Catalog;
  /** That of the record that this thread was opened with; undefined: the catalog is another one by now. */
  #catalogId: string | null | undefined;
  /** What the last commit saved. */
  #saved: Pick<ThreadCommit, "opId" | "snapshot"> | null = null;
  #traceparent: string | null;
  #isOver = false;
  #claimSent: ClaimSent | null = null;

  constructor(
    dependencies: HeldThreadDependencies,
    registry: HeldThreadRegistry,
    thread: { uid: string; slug: string; record: ThreadRecord | null; traceparent: string | null },
  ) {
    const { uid, slug, record, traceparent } = thread;
    this.#dependencies = dependencies;
    this.#registry = registry;
    this.uid = uid;
    // A damaged record may have no channel.
    this.slug = record?.slug || slug;
    this.fence = newFence(dependencies.store.processId, dependencies.newId());
    this.#mailbox = createMailbox((error) => this.#giveUp(error));
    this.#work = createWork(dependencies, {
      uid,
      slug: this.slug,
      post: this.#mailbox.post,
      handle: (event, item) => this.#handle(event, { item }),
      traced: () => this.traceFields,
    });
    this.run = record?.run ?? null;
    this.log = createRunLog(this.run?.runId ?? "", this.run?.lines, this.run?.kept);
    // As it was stored, because a claim without an event saves it unchanged.
    if (this.run?.kept) this.run = { ...this.run, lines: [...this.log.lines] };
    this.#longReply = this.#longReplyOf(this.log);
    this.basePosition = this.log.position;
    this.#snapshot = record?.snapshot ? threadHost.thaw(record.snapshot, uid) : threadHost.initial();
    this.#rev = record?.rev ?? 0;
    this.#readOp = record?.lastOp ?? null;
    this.#history = record?.tail ?? [];
    this.#messageCount = record?.messageCount ?? 0;
    this.#catalog = record?.catalog ?? [];
    this.#catalogId = record?.catalogId ?? null;
    this.#traceparent = traceparent;
    this.#activeTime = createActiveTime(dependencies, dependencies.limits.runTimeoutMs);
    const { tracing, clock } = dependencies;
    this.#segments = tracing
      ? createSegments(tracing, { uid, slug: this.slug, now: () => clock.now() })
      : null;
  }

  /** Claims the thread with its first event. On StoreUnavailable the outcome is unknown. */
  async claim(claim: Claim): Promise<ClaimResult> {
    const planned = this.#planClaim(claim);
    if (claim.event && !planned) return { type: "unchanged" };
    const { takesFrom = null, orWait = null } = claim;
    // Only a message may be based on a record that is not the store's (remembered.ts).
    const based = orWait && this.#catalogId !== undefined ? { readCatalogId: this.#catalogId } : {};
    const purpose = { ...GOES_ON, claims: true, takesFrom, orWait, ...based };
    const commit = this.#draft(planned, { ...purpose, ...claimedId(claim, planned) });
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
      this.#saved = commit;
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
    return fence !== this.fence && rev > this.#rev;
  }

  /** Trace fields for log lines about the active run. */
  get traceFields(): object {
    return this.#segments?.fields() ?? NOTHING_TRACED;
  }

  /** The page has registered other tools: the next turn offers these to the model. */
  setCatalog(catalog: Catalog): void {
    this.#catalog = catalog;
    this.#catalogId = undefined;
  }

  /** Ends the streams and stops working, without a save: another process continues from the last save. */
  interrupt(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#segments?.cut("interrupted");
    this.log.cut(INTERRUPTED);
    this.#registry.gaveUp(this);
  }

  /** The thread was deleted: ends its streams, and drops it from memory. */
  forget(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#segments?.cut("deleted");
    this.log.cut(DELETED);
    this.#registry.released(this, null);
  }

  /** After a fault in this process: recovery takes the run up from its last save. */
  #giveUp(error: unknown): void {
    const { uid, run } = this;
    const about = { uid, runId: run?.runId, ...this.traceFields };
    this.#dependencies.log.error({ ...about, err: error }, "cannot go on with a thread");
    this.interrupt();
  }

  /** The event that begins a message's run. */
  userSaid(message: UserMessage): ThreadEvent {
    const { runMaxToolCalls, toolResultTimeoutMs } = this.#dependencies.limits;
    return {
      type: "user.said",
      runId: message.runId,
      atMs: message.saidAtMs,
      limits: { toolCalls: runMaxToolCalls, toolResultMs: toolResultTimeoutMs },
    };
  }

  /** Handles one event. Synchronous if there is nothing to save. */
  #handle(event: ThreadEvent, enclosed: Partial<Enclosed>): void | Promise<void> {
    if (this.#isOver) return;
    if (event.type === "agent.wrote") return this.#passOn(event);
    const planned = this.#plan(event, enclosed);
    if (planned) return this.#save(planned, null);
  }

  /** A delta passes through the chart to the readers without a save. */
  #passOn(event: ThreadEvent): void {
    const { outcome } = threadHost.decide(this.#snapshot, event);
    for (const part of outcome) if (part.kind === "emitted") this.log.say([part.line]);
  }

  #plan(sent: ThreadEvent, enclosed: Partial<Enclosed>): Planned | null {
    const event = withCost(sent, () => this.#work.cost());
    const decision = threadHost.decide(this.#snapshot, event);
    if (!decision.changed) return null;
    const change = planChange({
      ...NOTHING_ENCLOSED,
      ...enclosed,
      run: this.run && this.#runSoFar(this.run),
      event,
      decision,
      messageCount: this.#messageCount,
      lastMessageAtMs: this.#history.at(-1)?.createdAtMs ?? 0,
      nowMs: this.#dependencies.clock.now(),
    });
    return this.#traced({ change, next: decision.next, event, segment: null });
  }

  #traced(planned: Planned): Planned {
    const { event } = planned;
    if (!this.#segments || !event) return planned;
    const traceparent = this.#traceparent;
    return { ...planned, ...this.#segments.plan({ ...this.#before(), ...planned, event, traceparent }) };
  }

  #before(): { run: RunRecord | null; before: ThreadSnapshot } {
    return { run: this.run, before: this.#snapshot };
  }

  #planClaim(claim: Claim): Planned | null {
    if (claim.endsUnreadable) return this.#planEnd();
    return claim.event ? this.#plan(claim.event, claim) : null;
  }

  #planEnd(): Planned {
    const { clock, newId } = this.#dependencies;
    const thread = { run: this.run, tail: this.#history, messageCount: this.#messageCount };
    const change = endUnreadable(thread, { newRunId: newId(), nowMs: clock.now() });
    return { change, next: threadHost.initial(), event: null, segment: null };
  }

  #runSoFar(run: RunRecord): RunRecord {
    const { lines, kept } = this.log;
    const activeMs = this.#activeTime.soFar(run.activeMs);
    return { ...run, lines: [...lines], activeMs, ...(kept.parts > 0 ? { kept } : {}) };
  }

  #draft(planned: Planned | null, purpose: CommitPurpose) {
    const { uid, slug, fence, run } = this;
    const { clock, newId, webhooks = () => [] } = this.#dependencies;
    const thread = { uid, slug, fence, run, rev: this.#rev, readOp: this.#readOp, snapshot: this.#snapshot };
    const told = { webhooks: webhooks(slug), newId };
    return draftCommit({ thread, planned, purpose, opId: newId(), atMs: clock.now(), ...told });
  }

  /** `startsWaiting`: the run id of the waiting message that the change starts. */
  async #save(planned: Planned, startsWaiting: string | null): Promise<void> {
    const commit = this.#draft(planned, { ...GOES_ON, startsWaiting });
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
        this.#saved = commit;
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
    this.#rev = result.rev;
    // While the message waited, the page may have registered other tools through any instance.
    if (result.catalog) this.setCatalog(result.catalog);
    if (planned) this.#adopt(planned);
    if (this.#isRunning()) {
      for (const effect of planned?.change.effects ?? []) this.#perform(effect);
      return;
    }
    if (result.next) return this.#beginWaiting(result.next);
    // The thread stays held in the store until an instance sets that message aside, or can read it (take-up.ts).
    if (result.unreadableNext) return this.#giveUp(result.unreadableNext);
    this.#stop();
    this.#registry.released(this, this.#record());
  }

  /** The thread as the store has it now. Null: not all of it is known here. */
  #record(): ThreadRecord | null {
    const state = threadStateOf(this.#snapshot.value);
    // A trace links to the run before it.
    const run = state === "idle" && !this.#segments ? null : this.run;
    if (!this.#saved || this.#catalogId === undefined || run?.kept) return null;
    return {
      uid: this.uid,
      slug: this.slug,
      rev: this.#rev,
      lastOp: this.#saved.opId,
      fence: null,
      state,
      snapshot: this.#saved.snapshot,
      catalog: this.#catalog,
      catalogId: this.#catalogId,
      run,
      tail: this.#history,
      messageCount: this.#messageCount,
      waitingCount: 0,
    };
  }

  #beginWaiting(message: UserMessage): void | Promise<void> {
    this.#traceparent = message.traceparent ?? null;
    const planned = this.#plan(this.userSaid(message), { message });
    if (planned) return this.#save(planned, message.runId);
  }

  #adopt({ change, next, event, segment }: Planned): void {
    this.#work.leave();
    if (event) this.#segments?.adopt({ ...this.#before(), change, next, event }, segment);
    const waited = this.#snapshot.context.person;
    this.#snapshot = next;
    this.#messageCount += change.messages.length;
    this.#history.push(...change.messages);
    this.run = change.run ?? this.run;
    if (change.run && change.begins) {
      this.log = createRunLog(change.run.runId);
      this.#longReply = this.#longReplyOf(this.log);
      this.basePosition = 0;
      this.#registry.begun(this);
    }
    if (change.run) this.#setTimeout(change.run);
    this.log.say(change.lines);
    reportChange(this.#dependencies, { uid: this.uid, slug: this.slug, rev: this.#rev, waited }, change);
  }

  #setTimeout(run: RunRecord): void {
    if (!this.#isRunning()) return this.#activeTime.rest();
    const { runId } = run;
    const message = "The run took longer than it may";
    const event: ThreadEvent = { type: "run.failed", runId, message, code: null };
    this.#activeTime.count(run, () => void this.receive(event));
  }

  #perform(effect: PerformedEffect): void {
    this.#work.perform(effect, { log: this.log, longReply: this.#longReply, turn: () => this.#nextTurn() });
  }

  #nextTurn(): Turn {
    const { run, slug } = this;
    if (!run) throw new Error("Cannot ask the model: the thread has no run");
    return nextTurn({
      slug,
      run,
      history: this.#history,
      catalog: this.#catalog,
      traceparent: this.#segments?.traceparent() ?? this.#traceparent,
      usage: this.#snapshot.context.run?.usage ?? null,
    });
  }

  #longReplyOf(log: RunLog): LongReply {
    const { uid, fence } = this;
    return this.#dependencies.longReplies.of({ uid, fence, isOver: () => this.#isOver }, log);
  }

  #isRunning(): boolean {
    return threadStateOf(this.#snapshot.value) === "running";
  }

  #stop(): void {
    this.#isOver = true;
    this.#work.leave();
    this.#activeTime.rest();
  }
}
