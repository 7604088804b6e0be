import type { Happening } from "../happening.ts";
import type { StoreNode, Where } from "../store/node.ts";
import { addEntry, emptyTruth } from "./thread-truth.ts";
import type { Ending, Entry, ThreadTruth } from "./thread-truth.ts";

/**
 * All threads as their writes make them, write by write, also when a failover takes writes back. What a failover of
 * acknowledged writes may excuse is known here and nowhere else: exactly the threads and texts of the writes that it took.
 */
export interface Ledger {
  /** The thread as it is in force; an empty one where nothing was written. */
  truth(uid: string): ThreadTruth;
  threads(): string[];
  /** All endings that the thread ever had in a store, those of lost writes included. */
  endings(uid: string): readonly Ending[];
  /** This text was in an acknowledged write that was lost. */
  isLostText(uid: string, text: string): boolean;
  /** Acknowledged writes of the thread were lost, or written among stragglers, since then. */
  isDisturbed(uid: string, sinceMs: number): boolean;
  /** As isDisturbed, or writes were lost that nobody was told of. */
  isCut(uid: string, sinceMs: number): boolean;
  /** The process saved something of the run, be it lost since. */
  hasSaved(by: string, runId: string): boolean;
  /** The thread and the run of a call, the thread of a run; undefined: nothing of it was ever saved. */
  ofCall(callId: string): { uid: string; runId: string } | undefined;
  /** The runs that were ever to answer this text: among stragglers another one than elsewhere. */
  runsOfText(uid: string, text: string): ReadonlySet<string>;
  threadOf(runId: string): string | undefined;
  /** How this call was decided that waited for approval, be it lost since; undefined: it was not. */
  decisionOn(callId: string): { approved: boolean; savedAtMs: number } | undefined;
  /** The result of this page call was saved, be it lost since. */
  isAnswered(callId: string): boolean;
  see(happening: Happening): void;
}

interface KnownThread {
  node: StoreNode;
  entries: Entry[];
  truth: ThreadTruth;
  endings: Ending[];
  lostTexts: Set<string>;
  runs: Map<string, Set<string>>;
  disturbedAtMs: number;
  cutAtMs: number;
  /** Written among stragglers, and not lost yet. */
  astray: boolean;
  /** The thread as stragglers have it; null where nobody asked. */
  apart: ThreadTruth | null;
}

export function createLedger(now: () => number, onProblem: (uid: string, problem: Problem) => void): Ledger {
  const threads = new Map<string, KnownThread>();
  const saves = new Set<string>();
  const calls = new Map<string, { uid: string; runId: string }>();
  const answered = new Set<string>();
  const decisions = new Map<string, { approved: boolean; savedAtMs: number }>();
  const threadsOfRuns = new Map<string, string>();
  const nothing = emptyTruth();

  /** What is remembered of a write, whatever becomes of it. */
  function remember(uid: string, { runs }: KnownThread, write: Entry["write"]): void {
    const answers = (text: string, runId: string) =>
      void runs.set(text, (runs.get(text) ?? new Set()).add(runId));
    if (write.type === "wait") answers(write.message.text, write.message.runId);
    if (write.type !== "commit") return;
    const { run, messages } = write.commit;
    for (const { role, content, runId } of messages) if (role === "user") answers(content, runId);
    if (!run) return;
    saves.add(`${write.by} ${run.runId}`);
    threadsOfRuns.set(run.runId, uid);
    if (run.answered) answered.add(run.answered.callId);
    for (const { callId, approved } of run.decided ?? []) {
      const { savedAtMs = now() } = decisions.get(callId) ?? {};
      decisions.set(callId, { approved, savedAtMs });
    }
    for (const item of run.turns) {
      if (item.type !== "assistant") continue;
      for (const { callId } of item.calls) calls.set(callId, { uid, runId: run.runId });
    }
  }

  function add(uid: string, where: Where, write: Entry["write"]): void {
    const { node, position, isAcknowledged } = where;
    const thread = threads.get(uid) ?? newThread(node);
    threads.set(uid, thread);
    remember(uid, thread, write);
    if (position === null) {
      if (isAcknowledged()) addAstray(thread, write);
      return;
    }
    const entry: Entry = { atMs: now(), position, isAcknowledged, write };
    thread.entries.push(entry);
    const { problems, endings } = thread.truth;
    const [before, ended] = [problems.length, endings.length];
    addEntry(thread.truth, entry);
    thread.endings.push(...endings.slice(ended));
    for (const problem of problems.slice(before)) onProblem(uid, problem);
  }

  /** What stragglers write disturbs their thread at once, and when they are back. */
  function addAstray(thread: KnownThread, write: Entry["write"]): void {
    thread.astray = true;
    thread.disturbedAtMs = now();
    for (const text of textsOf(write)) thread.lostTexts.add(text);
    thread.apart ??= foldOf(thread.entries);
    const { endings } = thread.apart;
    const ended = endings.length;
    addEntry(thread.apart, { atMs: now(), position: 0, isAcknowledged: () => false, write });
    thread.endings.push(...endings.slice(ended));
  }

  function cut(node: StoreNode, kept: number): void {
    for (const thread of threads.values()) {
      if (thread.node !== node) continue;
      const lost = thread.entries.filter(({ position }) => position > kept);
      thread.apart = lost.length > 0 ? thread.truth : null;
      if (lost.length === 0) continue;
      thread.entries = thread.entries.filter(({ position }) => position <= kept);
      thread.truth = foldOf(thread.entries);
      const missed = lost.filter(({ isAcknowledged }) => isAcknowledged());
      thread.cutAtMs = now();
      if (missed.length > 0) thread.disturbedAtMs = now();
      for (const { write } of missed) for (const text of textsOf(write)) thread.lostTexts.add(text);
    }
  }

  function back(node: StoreNode): void {
    for (const thread of threads.values()) {
      if (thread.node !== node || !thread.astray) continue;
      thread.astray = false;
      thread.apart = null;
      thread.disturbedAtMs = now();
    }
  }

  const disturbedAtMs = (uid: string) => threads.get(uid)?.disturbedAtMs ?? -Infinity;

  return {
    truth: (uid) => threads.get(uid)?.truth ?? nothing,
    threads: () => [...threads.keys()],
    endings: (uid) => threads.get(uid)?.endings ?? [],
    isLostText: (uid, text) => threads.get(uid)?.lostTexts.has(text) ?? false,
    isDisturbed: (uid, sinceMs) => disturbedAtMs(uid) >= sinceMs,
    isCut: (uid, sinceMs) => Math.max(disturbedAtMs(uid), threads.get(uid)?.cutAtMs ?? -Infinity) >= sinceMs,
    hasSaved: (by, runId) => saves.has(`${by} ${runId}`),
    ofCall: (callId) => calls.get(callId),
    runsOfText: (uid, text) => threads.get(uid)?.runs.get(text) ?? new Set(),
    threadOf: (runId) => threadsOfRuns.get(runId),
    decisionOn: (callId) => decisions.get(callId),
    isAnswered: (callId) => answered.has(callId),

    see(happening) {
      if (happening.type === "writes lost") cut(happening.node, happening.kept);
      if (happening.type === "stragglers back") back(happening.node);
      const write = writeOf(happening);
      if (write) add(write.uid, write.where, write.write);
    },
  };
}

function foldOf(entries: readonly Entry[]): ThreadTruth {
  const truth = emptyTruth();
  for (const entry of entries) addEntry(truth, entry);
  return truth;
}

/** What a step of the store has written in a thread. */
function writeOf(happening: Happening): { uid: string; where: Where; write: Entry["write"] } | null {
  if (happening.type === "committed") {
    const { uid, by, commit, where } = happening;
    return { uid, where, write: { type: "commit", by, commit } };
  }
  if (happening.type === "waited") {
    const { uid, message, where } = happening;
    return { uid, where, write: { type: "wait", message } };
  }
  if (happening.type === "part kept") {
    const { uid, part, where } = happening;
    return { uid, where, write: { type: "part", ...part } };
  }
  if (happening.type === "catalog set") {
    const { uid, catalog, where } = happening;
    return { uid, where, write: { type: "catalog", catalog: JSON.stringify(catalog) } };
  }
  if (happening.type === "erased") return { ...happening, write: { type: "erase" } };
  return null;
}

export interface Problem {
  invariant: string;
  text: string;
}

function newThread(node: StoreNode): KnownThread {
  return {
    node,
    entries: [],
    truth: emptyTruth(),
    endings: [],
    lostTexts: new Set(),
    runs: new Map(),
    disturbedAtMs: -Infinity,
    cutAtMs: -Infinity,
    astray: false,
    apart: null,
  };
}

/** Texts of users and operators that a write brings in. */
function textsOf(write: Entry["write"]): string[] {
  if (write.type === "wait") return [write.message.text];
  if (write.type !== "commit") return [];
  return write.commit.messages.flatMap(({ role, author, content }) =>
    role === "user" || author ? [content] : [],
  );
}
