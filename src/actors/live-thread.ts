import type { ErrorLine, Line } from "../../machines/line.ts";
import { THREAD_CHART_VERSION, threadMachine } from "../../machines/thread.ts";
import type { Call } from "../../machines/run.ts";
import type { ThreadEvent } from "../../machines/thread.ts";
import type { Turn } from "../agent.ts";
import { newFence } from "../domain/fence.ts";
import { newId } from "../domain/ids.ts";
import { wholeMessage } from "../domain/kept-text.ts";
import type { Catalog, Message, RunRecord, TurnItem, UserMessage } from "../domain/message.ts";
import type { CommitResult, ThreadCommit, ThreadRecord } from "../store.ts";
import { planChange, threadStateOf } from "./plan-change.ts";
import type { PlannedChange } from "./plan-change.ts";
import { createHost } from "./host.ts";
import type { Effect } from "./host.ts";
import { INTERRUPTED } from "./interrupted.ts";
import type { LongReplies, LongReply } from "./long-replies.ts";
import { createMailbox } from "./mailbox.ts";
import type { ThreadDependencies } from "./dependencies.ts";
import { retryDuringOutage } from "./retry-during-outage.ts";
import type { OpenReply } from "./reply.ts";
import { createRunLog } from "./run-log.ts";
import type { RunLog } from "./run-log.ts";
import { createWork } from "./work.ts";
import type { Work } from "./work.ts";

/**
 * A thread that this process holds, from the claim to the moment it lets go.
 *
 * Each event goes the same way, one at a time: ask the chart, commit what it asks to be saved, and only then say the
 * lines and perform the effects. A delta changes nothing that is saved, and passes in the same tick. Every commit
 * carries the fence of the claim: when another process has taken the thread, the commit says so, and this one stops.
 */
const host = createHost<typeof threadMachine, Line>(threadMachine, THREAD_CHART_VERSION);

/** How long a save is tried again before the readers are told; the store's own deadline. */
const PATIENCE_MS = 2_000;

const NOT_SAVED: ErrorLine = { type: "error", message: "The service cannot save the conversation right now" };

/** What comes with an event besides the event. */
interface Enclosed {
  item?: TurnItem;
  message?: UserMessage;
  page?: string | null;
  startsWaiting?: boolean;
}

/** A change, and the chart's snapshot after it. */
interface Planned {
  change: PlannedChange;
  next: ReturnType<typeof host.initial>;
}

export interface Claim extends Enclosed {
  /** null: the chart is not asked; the thread is taken to run its queue. */
  event: ThreadEvent | null;
  takesFrom?: string;
  orWait?: { message: UserMessage; max: number };
}

/** The claim's end: the store's answer, or `unchanged` where the chart has no move for the event. */
export type ClaimResult = CommitResult | { type: "unchanged" };

/** The threads that this process holds: whom a live thread tells of its coming and going. */
export interface HeldThreads {
  /** A claim is on its way: its fence is not lost, though nobody is known to hold it yet. */
  claiming(thread: LiveThread): void;
  claimed(thread: LiveThread, held: boolean): void;
  /** A run began here: whoever waits for it may attach. */
  begun(thread: LiveThread): void;
  released(thread: LiveThread): void;
}

/** What the held threads of a process share. */
export type HeldThreadDependencies = ThreadDependencies & { longReplies: LongReplies };

export class LiveThread {
  readonly uid: string;
  readonly slug: string;
  readonly fence: string;
  /** The active run as it was last saved. */
  run: RunRecord | null;
  /** What the active run has said, saved or not. */
  log: RunLog;
  /** What was saved of the run when this process took it: what lies before it reads the same on every instance. */
  basePosition: number;

  readonly #parts: HeldThreadDependencies;
  readonly #roster: HeldThreads;
  readonly #mailbox = createMailbox();
  #longReply: LongReply;
  #snapshot;
  #rev: number;
  #history: Message[];
  #messageCount: number;
  #catalog: Catalog;
  #traceparent: string | null;
  readonly #work: Work;
  #timeout: NodeJS.Timeout | null = null;
  #activeSince: number;
  #over = false;

  constructor(
    parts: HeldThreadDependencies,
    roster: HeldThreads,
    thread: { uid: string; slug: string; record: ThreadRecord | null; traceparent: string | null },
  ) {
    const { uid, slug, record, traceparent } = thread;
    this.#parts = parts;
    this.#roster = roster;
    this.uid = uid;
    this.slug = record?.slug ?? slug;
    this.fence = newFence(parts.store.processId);
    this.#work = createWork(parts, {
      uid,
      slug: this.slug,
      post: (step) => this.#mailbox.post(step),
      handle: (event, enclosed) => this.#handle(event, enclosed),
    });
    this.run = record?.run ?? null;
    this.log = createRunLog(this.run?.runId ?? "", this.run?.lines, this.run?.kept);
    // As it was stored: a claim without an event saves it so again.
    if (this.run?.kept) this.run = { ...this.run, lines: [...this.log.lines] };
    this.#longReply = this.#longReplyOf(this.log);
    this.basePosition = this.log.position;
    this.#snapshot = record?.snapshot ? host.thaw(record.snapshot) : host.initial();
    this.#rev = record?.rev ?? 0;
    this.#history = record?.tail ?? [];
    this.#messageCount = record?.messageCount ?? 0;
    this.#catalog = record?.catalog ?? [];
    this.#traceparent = traceparent;
    this.#activeSince = parts.clock.elapsed();
  }

  /** Takes the thread with its first event. Rejects with StoreUnavailable: the outcome is then unknown. */
  async claim(claim: Claim): Promise<ClaimResult> {
    const drawn = claim.event ? this.#decide(claim.event, claim) : null;
    if (claim.event && !drawn) return { type: "unchanged" };
    const commit = this.#commitOf(drawn, {
      claims: true,
      takesFrom: claim.takesFrom ?? null,
      orWait: claim.orWait ?? null,
    });
    // A thread without a run cannot be held: there is nothing to take.
    if (!commit) return { type: "unchanged" };

    this.#roster.claiming(this);
    let result: CommitResult | null = null;
    try {
      result = await this.#parts.store.commit(commit);
    } finally {
      this.#roster.claimed(this, result?.type === "committed");
    }
    if (result.type === "committed") {
      const committed = result;
      this.#mailbox.post(() => this.#settle(drawn, committed));
    }
    return result;
  }

  /** Gives the thread an event from outside; resolves when it was handled, saved or dropped. */
  receive(event: ThreadEvent): Promise<void> {
    return new Promise((resolve) => {
      this.#mailbox.post(async () => {
        await this.#handle(event, {});
        resolve();
      });
    });
  }

  /** Gives a reader what the active run has said since `from`, then what comes. */
  attach(reply: OpenReply, from: number): void {
    this.#longReply.attach(reply, from);
  }

  /** The page registered other tools: the next turn is offered these. */
  setCatalog(catalog: Catalog): void {
    this.#catalog = catalog;
  }

  /** Ends the streams and stops working, without a save: another process goes on where the last save left off. */
  interrupt(): void {
    if (this.#over) return;
    this.#stop();
    this.log.cut(INTERRUPTED);
    this.#roster.released(this);
  }

  #decide(event: ThreadEvent, enclosed: Enclosed): Planned | null {
    const decision = host.decide(this.#snapshot, event);
    if (!decision.changed) return null;
    const { clock } = this.#parts;
    const change = planChange({
      run: this.run && this.#runSoFar(this.run),
      event,
      decision,
      item: enclosed.item ?? null,
      message: enclosed.message ?? null,
      page: enclosed.page ?? null,
      messageCount: this.#messageCount,
      lastMessageAtMs: this.#history.at(-1)?.createdAtMs ?? 0,
      nowMs: clock.now(),
    });
    return { change, next: decision.next };
  }

  #longReplyOf(log: RunLog): LongReply {
    const { uid, fence } = this;
    return this.#parts.longReplies.of({ uid, fence, isOver: () => this.#over }, log);
  }

  #runSoFar(run: RunRecord): RunRecord {
    const { lines, kept } = this.log;
    return {
      ...run,
      lines: [...lines],
      activeMs: this.#activeMs(),
      ...(kept.parts > 0 ? { kept } : {}),
    };
  }

  /** null: a thread without a run has nothing to be taken for. */
  #commitOf(
    drawn: Planned | null,
    how: Pick<ThreadCommit, "claims" | "takesFrom" | "orWait"> & { startsWaiting?: string | null },
  ): ThreadCommit | null {
    const run = drawn?.change.run ?? this.run;
    if (!run) return null;
    const next = drawn?.next ?? this.#snapshot;
    const state = threadStateOf(next.value);
    return {
      uid: this.uid,
      slug: this.slug,
      opId: newId(),
      fence: this.fence,
      claims: how.claims,
      takesFrom: how.takesFrom,
      rev: this.#rev,
      atMs: this.#parts.clock.now(),
      snapshot: host.freeze(next),
      state,
      run,
      endedRun: drawn?.change.endedRun ?? null,
      messages: drawn?.change.messages ?? [],
      startsWaiting: how.startsWaiting ?? null,
      holds: state === "running",
      deadlineMs: state === "awaiting" ? (next.context.run?.deadlineMs ?? null) : null,
      orWait: how.orWait,
    };
  }

  /** One event of a thread that is held. Synchronous where nothing is to be saved. */
  #handle(event: ThreadEvent, enclosed: Enclosed): void | Promise<void> {
    if (this.#over) return;
    if (event.type === "agent.wrote") return this.#pass(event);
    const drawn = this.#decide(event, enclosed);
    if (!drawn) return;
    return this.#saveAndSettle(drawn, enclosed);
  }

  /** A delta: through the chart to the readers, with no save. */
  #pass(event: ThreadEvent): void {
    const { outcome } = host.decide(this.#snapshot, event);
    for (const part of outcome) if (part.kind === "emitted") this.log.say([part.line]);
  }

  async #saveAndSettle(drawn: Planned, enclosed: Enclosed): Promise<void> {
    const commit = this.#commitOf(drawn, {
      claims: false,
      takesFrom: null,
      orWait: null,
      startsWaiting: enclosed.startsWaiting ? drawn.change.run.runId : null,
    });
    if (!commit) return;
    const result = await this.#commitPatiently(commit);
    if (!result || this.#over) return;
    if (result.type === "committed") return this.#settle(drawn, result);
    this.#parts.log.warn(
      { uid: this.uid, runId: commit.run.runId, result: result.type },
      "another instance holds the thread",
    );
    this.interrupt();
  }

  /** Saves, again and again while the store is away; the readers are told when it takes too long. null: given up. */
  async #commitPatiently(commit: ThreadCommit): Promise<CommitResult | null> {
    const { store, clock, log } = this.#parts;
    const begunAt = clock.elapsed();
    let told = false;
    try {
      return await retryDuringOutage(() => store.commit(commit), {
        isWanted: () => !this.#over,
        onAway: (pauseMs) => {
          if (told || clock.elapsed() - begunAt + pauseMs <= PATIENCE_MS) return;
          told = true;
          const { runId } = commit.run;
          log.warn({ uid: this.uid, runId }, "the store is away: the run waits with its save");
          this.log.cut(NOT_SAVED);
        },
      });
    } catch (error) {
      log.error({ uid: this.uid, err: error }, "cannot save a thread");
      this.interrupt();
      return null;
    }
  }

  /** What was saved becomes true here: lines are said, effects performed, the next message begun or the thread let go. */
  #settle(drawn: Planned | null, result: Extract<CommitResult, { type: "committed" }>): void | Promise<void> {
    if (this.#over) return;
    this.#rev = result.rev;
    if (drawn) this.#adopt(drawn.change, drawn.next);
    if (threadStateOf(this.#snapshot.value) === "running") {
      for (const effect of drawn?.change.effects ?? []) this.#perform(effect);
      return;
    }
    if (result.next) {
      const message = result.next;
      this.#traceparent = message.traceparent ?? null;
      return this.#handle(this.userSaid(message), { message, startsWaiting: true });
    }
    this.#stop();
    this.#roster.released(this);
  }

  #adopt(change: PlannedChange, next: ReturnType<typeof host.initial>): void {
    const { observer } = this.#parts;
    this.#work.leave();
    this.#snapshot = next;
    this.#messageCount += change.messages.length;
    this.#history.push(...change.messages);
    if (change.endedRun?.outcome) this.#tellEnd(change.endedRun);
    this.run = change.run;
    if (change.begins) {
      this.log = createRunLog(change.run.runId);
      this.#longReply = this.#longReplyOf(this.log);
      this.basePosition = 0;
      this.#activeSince = this.#parts.clock.elapsed();
      this.#roster.begun(this);
    }
    this.#armTimeout();
    this.log.say(change.said);
    const move = change.run.path.at(-1);
    if (move) {
      observer.moved({
        slug: this.slug,
        uid: this.uid,
        runId: change.run.runId,
        rev: this.#rev,
        move,
        said: change.said,
      });
    }
    if (change.run.outcome) this.#tellEnd(change.run);
  }

  #tellEnd(run: RunRecord): void {
    if (!run.outcome) return;
    const elapsedMs = Math.max(0, this.#parts.clock.now() - run.saidAtMs);
    this.#parts.observer.runEnded({ slug: this.slug, runId: run.runId, outcome: run.outcome, elapsedMs });
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case "startTurn":
        return this.#think();
      case "callTool":
        return this.#work.useTool(this.log.runId, (effect.params as { call: Call }).call);
      default:
        this.#parts.log.error({ effect: effect.type }, "the chart named an effect that nobody performs");
    }
  }

  #think(): void {
    const { run } = this;
    if (!run) return;
    const { runMaxReplyChars } = this.#parts.limits;
    const said = this.#history.findLastIndex(
      (message) => message.runId === run.runId && message.role === "user",
    );

    const turn = {
      slug: this.slug,
      run,
      text: this.#history[said]?.content ?? "",
      before: said < 0 ? this.#history : this.#history.slice(0, said),
      catalog: this.#catalog,
      traceparent: this.#traceparent,
      usage: this.#snapshot.context.run?.usage ?? null,
    };
    const isWhole = !turn.before.some(({ kept }) => kept);
    this.#work.think(run.runId, isWhole ? turn : this.#withWholeReplies(turn), (text, tell) => {
      tell({ type: "agent.wrote", text });
      if (this.log.textChars > runMaxReplyChars) {
        tell({ type: "run.failed", message: "The reply grew longer than it may", code: null });
      }
      return this.#longReply.grew();
    });
  }

  /** Of long replies that ended while this process held the thread, what was let go is read again. */
  async #withWholeReplies(turn: Turn): Promise<Turn> {
    const { store } = this.#parts;
    const read = (runId: string, parts: number) =>
      retryDuringOutage(() => store.keptText(this.uid, runId, parts), {
        isWanted: () => !this.#over,
        onAway() {},
      });
    const before = turn.before.map(async (message) => {
      const { runId, kept } = message;
      return kept ? wholeMessage(message, (await read(runId, kept.parts)) ?? "") : message;
    });
    return { ...turn, before: await Promise.all(before) };
  }

  #activeMs(): number {
    return (this.run?.activeMs ?? 0) + Math.round(this.#parts.clock.elapsed() - this.#activeSince);
  }

  #armTimeout(): void {
    this.#activeSince = this.#parts.clock.elapsed();
    if (this.#timeout) clearTimeout(this.#timeout);
    this.#timeout = null;
    if (threadStateOf(this.#snapshot.value) !== "running") return;
    const leftMs = Math.max(0, this.#parts.limits.runTimeoutMs - (this.run?.activeMs ?? 0));
    const event: ThreadEvent = { type: "run.failed", message: "The run took longer than it may", code: null };
    this.#timeout = setTimeout(() => void this.receive(event), leftMs).unref();
  }

  #stop(): void {
    this.#over = true;
    this.#work.leave();
    if (this.#timeout) clearTimeout(this.#timeout);
    this.#timeout = null;
  }

  /** The event that begins a message's run. */
  userSaid(message: UserMessage): ThreadEvent {
    const { runMaxToolCalls, toolResultTimeoutMs } = this.#parts.limits;
    return {
      type: "user.said",
      runId: message.runId,
      atMs: message.saidAtMs,
      limits: { toolCalls: runMaxToolCalls, toolResultMs: toolResultTimeoutMs },
    };
  }
}
