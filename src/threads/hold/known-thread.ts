import type { RunLimits, Usage } from "../../../machines/run.ts";
import type { ThreadEvent } from "../../../machines/thread.ts";
import type { KnownHistory, Turn } from "../../agent.ts";
import { threadHost } from "../../charts/charts.ts";
import type { ThreadSnapshot } from "../../charts/charts.ts";
import type { AnswererChange } from "../../domain/threads/answerer-change.ts";
import { chosenOf, isHidden, withHidden } from "../../domain/threads/branches.ts";
import type { Ranges } from "../../domain/threads/branches.ts";
import type { HistorySummary } from "../../domain/threads/history-summary.ts";
import { handOffOf } from "../../domain/threads/hand-off.ts";
import { newFence } from "../../domain/threads/fence.ts";
import type { Catalog, Message, RunRecord, UserMessage } from "../../domain/threads/message.ts";
import type { ThreadCommit, ThreadRecord } from "../../store.ts";
import type { Segment } from "../../trace.ts";
import type { ThreadDependencies, ThreadLimits } from "../dependencies.ts";
import { endUnreadable } from "../recover/end-unreadable.ts";
import { threadStateOf } from "../thread-state.ts";
import { answererChange } from "./answerer-change.ts";
import { draftCommit } from "./draft-commit.ts";
import type { CommitPurpose } from "./draft-commit.ts";
import { nextTurn } from "./next-turn.ts";
import { planChange } from "./plan-change.ts";
import type { Enclosed, PlannedChange } from "./plan-change.ts";
import { createRunLog } from "./run-log.ts";
import type { RunLog } from "./run-log.ts";
import { createSegments } from "./segments.ts";
import type { Segments } from "./segments.ts";

/** A planned change, and the chart's snapshot after it. */
export interface Planned {
  change: PlannedChange;
  next: ThreadSnapshot;
  event: ThreadEvent | null;
  /** What it changes of who answers; null: nothing. */
  answerer: AnswererChange | null;
  /** The trace segment that begins with it. */
  segment: Segment | null;
}

/** What the active run has used so far, of which the record knows nothing yet. */
export interface Used {
  /** Tokens of the turn that is under way. */
  cost(this: void): Usage | null;
  /** How long the run has been active, in ms. */
  activeMs(this: void, run: RunRecord): number;
}

/** A thread that is to be held; `record`: as it was loaded, null: it has none. */
export interface ThreadToHold {
  uid: string;
  slug: string;
  record: ThreadRecord | null;
  traceparent: string | null;
}

const NOTHING_ENCLOSED: Enclosed = { item: null, message: null, page: null };

/**
 * What this process knows of a thread that it holds: the record, and what has changed since. It plans changes, drafts
 * their commits, and takes over what was saved; it performs nothing.
 */
export class KnownThread {
  readonly uid: string;
  readonly slug: string;
  readonly fence: string;
  /** The active run as it was last saved. */
  run: RunRecord | null;
  /** The active run's lines, saved or not. */
  log: RunLog;
  /** The saved position when this process claimed the run: everything before it is the same on every instance. */
  basePosition: number;
  snapshot: ThreadSnapshot;
  rev: number;
  /** null: traces are off. */
  readonly segments: Segments | null;
  /** Of the request that the active run answers. */
  traceparent: string | null;

  readonly #dependencies: ThreadDependencies;
  /** The last operation in the record that this thread was opened with. */
  readonly #readOp: string | null;
  #history: Message[];
  #messageCount: number;
  /** What of the history is in other branches. */
  hidden: Ranges;
  #summary: HistorySummary | null;
  #catalog: Catalog;
  /** That of the record that this thread was opened with; undefined: the catalog is another one by now. */
  #catalogId: string | null | undefined;
  /** What the last commit saved. */
  #saved: Pick<ThreadCommit, "opId" | "snapshot"> | null = null;

  constructor(dependencies: ThreadDependencies, { uid, slug, record, traceparent }: ThreadToHold) {
    this.#dependencies = dependencies;
    this.uid = uid;
    // A damaged record may have no channel.
    this.slug = record?.slug || slug;
    this.fence = newFence(dependencies.store.processId, dependencies.newId());
    this.run = record?.run ?? null;
    this.log = createRunLog(this.run?.runId ?? "", this.run?.lines, this.run?.kept);
    // As it was stored, because a claim without an event saves it unchanged.
    if (this.run?.kept) this.run = { ...this.run, lines: [...this.log.lines] };
    this.basePosition = this.log.position;
    this.snapshot = record?.snapshot ? threadHost.thaw(record.snapshot, uid) : threadHost.initial();
    this.rev = record?.rev ?? 0;
    this.#readOp = record?.lastOp ?? null;
    this.#history = record?.tail ?? [];
    this.#messageCount = record?.messageCount ?? 0;
    this.hidden = record?.hidden ?? [];
    this.#summary = record?.historySummary ?? null;
    this.#catalog = record?.catalog ?? [];
    this.#catalogId = record?.catalogId ?? null;
    this.traceparent = traceparent;
    const { tracing, clock } = dependencies;
    this.segments = tracing
      ? createSegments(tracing, { uid, slug: this.slug, now: () => clock.now() })
      : null;
  }

  get isRunning(): boolean {
    return threadStateOf(this.snapshot.value) === "running";
  }

  /** The catalog's id, if the catalog is still that of the record. */
  get readCatalogId(): string | null | undefined {
    return this.#catalogId;
  }

  /** The page has registered other tools: the next turn offers these to the model. */
  setCatalog(catalog: Catalog): void {
    this.#catalog = catalog;
    this.#catalogId = undefined;
  }

  /** The history as far as it is known here. */
  get history(): KnownHistory {
    return { summary: this.#summary, tail: this.#history };
  }

  /** The beginning of the history was summarised. */
  setSummary(summary: HistorySummary): void {
    this.#summary = summary;
  }

  /** What the chart makes of an event; null: nothing changes. */
  plan(sent: ThreadEvent, enclosed: Partial<Enclosed>, used: Used): Planned | null {
    const event = withCost(sent, used);
    const decision = threadHost.decide(this.snapshot, event);
    if (!decision.changed) return null;
    const nowMs = this.#dependencies.clock.now();
    const change = planChange({
      ...NOTHING_ENCLOSED,
      ...enclosed,
      // A turn goes on that has been told of a message: whoever takes the run over asks for it again, and for all of its words.
      run: this.run && (event.type === "run.steered" ? this.run : this.#runSoFar(this.run, used)),
      event,
      decision,
      messageCount: this.#messageCount,
      isShown: (id) => this.#isShown(id),
      summarizedTo: this.#summary?.upTo ?? 0,
      lastMessageAtMs: this.#history.at(-1)?.createdAtMs ?? 0,
      nowMs,
    });
    const { next } = decision;
    const answerer = answererChange(event.type, { before: this.snapshot, next, atMs: nowMs });
    return this.#traced({ change, next, event, answerer, segment: null });
  }

  /** The end of a run whose thread's state could not be read (end-unreadable.ts). */
  planEnd(): Planned {
    const { clock, newId } = this.#dependencies;
    const thread = { run: this.run, tail: this.#history, messageCount: this.#messageCount };
    const change = endUnreadable(thread, { newRunId: newId(), nowMs: clock.now() });
    return { change, next: threadHost.initial(), event: null, answerer: null, segment: null };
  }

  #traced(planned: Planned): Planned {
    const { event } = planned;
    if (!this.segments || !event) return planned;
    const { traceparent } = this;
    return { ...planned, ...this.segments.plan({ ...this.#before(), ...planned, event, traceparent }) };
  }

  #before(): { run: RunRecord | null; before: ThreadSnapshot } {
    return { run: this.run, before: this.snapshot };
  }

  #runSoFar(run: RunRecord, used: Used): RunRecord {
    const { lines, kept } = this.log;
    return { ...run, lines: [...lines], activeMs: used.activeMs(run), ...(kept.parts > 0 ? { kept } : {}) };
  }

  /** The commit of a planned change, or, without one, of the thread as it is; null: it has no run to save. */
  draft(planned: Planned | null, purpose: CommitPurpose): ThreadCommit | null {
    const { uid, slug, fence, run, rev, snapshot } = this;
    const { clock, newId, webhooks = () => [] } = this.#dependencies;
    const thread = { uid, slug, fence, run, rev, readOp: this.#readOp, snapshot };
    const told = { webhooks: webhooks(slug), newId };
    return draftCommit({ thread, planned, purpose, opId: newId(), atMs: clock.now(), ...told });
  }

  /** The store has made this commit. */
  saved(commit: ThreadCommit): void {
    this.#saved = commit;
  }

  /** Takes over a change that was saved. True: a run began with it, and has a log of its own. */
  adopt({ change, next, event, segment }: Planned): boolean {
    if (event) this.segments?.adopt({ ...this.#before(), change, next, event }, segment);
    this.snapshot = next;
    this.#messageCount += change.messages.length;
    this.#history.push(...change.messages);
    if (change.hides) this.#hide(change.hides);
    this.run = change.run ?? this.run;
    if (!change.run || !change.begins) return false;
    this.log = createRunLog(change.run.runId);
    this.basePosition = 0;
    return true;
  }

  #isShown(id: string): boolean {
    return Number(id) <= this.#messageCount && !isHidden(this.hidden, id);
  }

  #hide(hides: NonNullable<PlannedChange["hides"]>): void {
    this.hidden = withHidden(this.hidden, hides);
    this.#history = chosenOf(this.#history, this.hidden);
    if (hides.summarized) this.#summary = null;
  }

  /** The thread as the store has it now. Null: not all of it is known here. */
  record(): ThreadRecord | null {
    const state = threadStateOf(this.snapshot.value);
    // A trace links to the run before it.
    const run = state === "idle" && !this.segments ? null : this.run;
    if (!this.#saved || this.#catalogId === undefined || run?.kept) return null;
    return {
      uid: this.uid,
      slug: this.slug,
      rev: this.rev,
      lastOp: this.#saved.opId,
      fence: null,
      state,
      snapshot: this.#saved.snapshot,
      catalog: this.#catalog,
      catalogId: this.#catalogId,
      run,
      tail: this.#history,
      messageCount: this.#messageCount,
      ...(this.hidden.length > 0 ? { hidden: this.hidden } : {}),
      waitingCount: 0,
      ...(this.#summary && { historySummary: this.#summary }),
    };
  }

  /** The input of the active run's next model call. */
  nextTurn(): Turn {
    const { run, slug } = this;
    if (!run) throw new Error("Cannot ask the model: the thread has no run");
    return nextTurn({
      slug,
      run,
      history: this.#history,
      summary: this.#summary,
      catalog: this.#catalog,
      traceparent: this.segments?.traceparent() ?? this.traceparent,
      usage: this.snapshot.context.run?.usage ?? null,
    });
  }

  /** The event that begins a message's run. */
  userSaid(message: UserMessage): ThreadEvent {
    const { limits, handOff = () => handOffOf(undefined) } = this.#dependencies;
    if (message.again) {
      const isGone = this.#isShown(message.again.answers) ? {} : { isGone: true as const };
      return { type: "reply.again", ...beginningOf(message, limits), ...isGone };
    }
    return {
      type: "user.said",
      ...beginningOf(message, limits),
      ...(this.snapshot.value === "with_person" ? { answerMs: handOff(this.slug).answerMs } : {}),
    };
  }
}

/** What the chart is told of a run that begins. */
export function beginningOf(
  { runId, saidAtMs: atMs }: Pick<UserMessage, "runId" | "saidAtMs">,
  { runMaxToolCalls, toolResultTimeoutMs }: ThreadLimits,
): { runId: string; atMs: number; limits: RunLimits } {
  return { runId, atMs, limits: { toolCalls: runMaxToolCalls, toolResultMs: toolResultTimeoutMs } };
}

/** Events that may end a run in the middle of a turn are told what that turn has cost so far. */
function withCost(event: ThreadEvent, used: Used): ThreadEvent {
  const mayEndATurn =
    event.type === "run.failed" ||
    event.type === "run.cancelled" ||
    event.type === "person.asked" ||
    event.type === "person.took";
  return mayEndATurn ? { ...event, usage: event.usage ?? used.cost() } : event;
}
