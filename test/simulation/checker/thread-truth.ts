import type { Step, TerminalLine } from "../../../src/protocol/lines.ts";
import type { RunOutcome } from "../../../machines/run.ts";
import { foldSteps, textOf } from "../../../src/domain/threads/fold-steps.ts";
import { withText } from "../../../src/domain/threads/kept-text.ts";
import type { Message, RunRecord, UserMessage } from "../../../src/domain/threads/message.ts";
import type { ThreadCommit } from "../../../src/store.ts";
import { chosenOf, withHidden } from "../../../src/domain/threads/branches.ts";
import type { Ranges } from "../../../src/domain/threads/branches.ts";
import { addAnswerer, MODEL_ANSWERS } from "./answerer-truth.ts";
import type { Answerer } from "./answerer-truth.ts";

/** A write of one thread that is in force. */
export interface Entry {
  atMs: number;
  /** Place among the writes of its node. */
  position: number;
  isAcknowledged: () => boolean;
  write:
    | { type: "commit"; by: string; commit: ThreadCommit }
    | { type: "wait"; message: UserMessage }
    | { type: "part"; runId: string; nth: number; text: string }
    | { type: "catalog"; catalog: string }
    | { type: "erase" };
}

export interface RunTruth {
  runId: string;
  /** Of the message that it answers; empty: it answers none. */
  text: string;
  /** What the service wants said; null: it answers a message. */
  instruction: string | null;
  /** The id of the message that it answers. */
  asked: string | null;
  begunAtMs: number;
  begunBy: string;
  /** It was taken from the queue. */
  waited: boolean;
  endedAtMs: number | null;
  outcome: RunOutcome | null;
  /** It was done because a person answers, with what it had said. */
  isLeft: boolean;
  /** Its reply in the history, whole. */
  reply: string | null;
  /** Where the stream of each answered page call begins in its lines. */
  streams: Map<string, number>;
}

/** How a run's stream ended, once: what a reader from the beginning, or from a page's result on, must have been told. */
export interface Ending {
  runId: string;
  outcome: RunOutcome | null;
  terminal: TerminalLine;
  whole: Told;
  /**
   * By the call that was answered; earlier ones too. A follower that has not heard of the end of a stream tells, where the
   * page has gone on meanwhile, the end of the next one.
   */
  sinceResult: ReadonlyMap<string, Told>;
}

export interface Told {
  text: string;
  steps: Step[];
}

/** One thread as its writes make it: what is true, whatever instances believe. */
export interface ThreadTruth {
  /** A tombstone stands in its place. */
  isErased: boolean;
  /** What it had when it was erased. */
  lost: { spokenAtMs: number; texts: string[] } | null;
  fence: string | null;
  messages: Message[];
  /** Which of them are in other branches. */
  hidden: Ranges;
  /** How many there were, and which were in other branches, after each change of either. */
  histories: { length: number; hidden: Ranges }[];
  queue: UserMessage[];
  runs: Map<string, RunTruth>;
  active: RunTruth | null;
  catalogs: { atMs: number; catalog: string }[];
  endings: Ending[];
  /** What is wrong with the writes themselves: the invariant, and what it says. */
  problems: { invariant: string; text: string }[];
  /** Texts of long replies, by run and number. */
  parts: Map<string, string>;
  /** The commit before. */
  lastOpId: string | null;
  answerer: Answerer;
}

export function emptyTruth(): ThreadTruth {
  return {
    isErased: false,
    lost: null,
    fence: null,
    messages: [],
    hidden: [],
    histories: [{ length: 0, hidden: [] }],
    queue: [],
    runs: new Map(),
    active: null,
    catalogs: [],
    endings: [],
    problems: [],
    parts: new Map(),
    lastOpId: null,
    answerer: MODEL_ANSWERS,
  };
}

/** Adds one more write to what is true. */
export function addEntry(truth: ThreadTruth, { atMs, write }: Entry): void {
  if (truth.isErased && write.type !== "erase")
    truth.problems.push({ invariant: "deleted-stays-deleted", text: `a ${write.type} is written` });
  switch (write.type) {
    case "catalog":
      truth.catalogs.push({ atMs, catalog: write.catalog });
      return;
    case "part":
      truth.parts.set(`${write.runId} ${write.nth}`, write.text);
      return;
    case "wait":
      return wait(truth, write.message);
    case "erase":
      // What was said of it stays said: endings and problems.
      Object.assign(truth, {
        ...emptyTruth(),
        endings: truth.endings,
        problems: truth.problems,
        isErased: true,
        lost: truth.lost ?? contentOf(truth),
      });
      return;
    case "commit":
      // A repeat changes nothing.
      if (write.commit.opId === truth.lastOpId) return;
      addCommit(truth, { ...write, atMs });
      truth.lastOpId = write.commit.opId;
  }
}

/** Of what waits nobody has spoken yet, and it is a message all the same. */
export function contentOf({ messages, queue }: ThreadTruth): NonNullable<ThreadTruth["lost"]> {
  const times = [...messages.map(({ createdAtMs }) => createdAtMs), ...queue.map(({ saidAtMs }) => saidAtMs)];
  return {
    spokenAtMs: Math.max(0, ...times),
    texts: [...messages.map(({ content }) => content), ...queue.map(({ text }) => text)],
  };
}

function wait(truth: ThreadTruth, message: UserMessage): void {
  const isKnown = truth.queue.some(({ runId }) => runId === message.runId) || truth.runs.has(message.runId);
  if (!isKnown) truth.queue.push(message);
}

interface Commit {
  by: string;
  commit: ThreadCommit;
  atMs: number;
}

function addCommit(truth: ThreadTruth, added: Commit): void {
  const { commit } = added;
  const waited = commit.startsWaiting !== null;
  if (waited) truth.queue.shift();
  truth.answerer = addAnswerer(truth, added);
  for (const message of commit.messages) addMessage(truth, message);
  if (commit.hides) truth.hidden = withHidden(truth.hidden, commit.hides);
  if (commit.messages.length > 0 || commit.hides)
    truth.histories.push({ length: truth.messages.length, hidden: truth.hidden });
  if (commit.endedRun) saveRun(truth, commit.endedRun, added);
  if (commit.run && !truth.runs.has(commit.run.runId)) beginRun(truth, commit.run, added, waited);
  if (commit.run) saveRun(truth, commit.run, added);
  truth.fence = commit.holds || truth.queue.length > 0 ? commit.fence : null;
}

function addMessage(truth: ThreadTruth, message: Message): void {
  const { messages, problems } = truth;
  const { id, createdAtMs } = message;
  if (id !== String(messages.length + 1)) {
    problems.push({ invariant: "history-is-a-list", text: `message ${id} stands at ${messages.length + 1}` });
  }
  if (createdAtMs < (chosenOf(messages, truth.hidden).at(-1)?.createdAtMs ?? 0)) {
    problems.push({ invariant: "history-is-a-list", text: `message ${id} is older than the one before it` });
  }
  messages.push({ ...message, content: keptText(truth, message) + message.content });
}

function beginRun(
  truth: ThreadTruth,
  { runId, again, turns, outcome }: RunRecord,
  { by, atMs }: Commit,
  waited: boolean,
): void {
  const [first] = turns;
  const instruction = first?.type === "instruction" ? first.text : null;
  const said = truth.messages.find((message) =>
    again ? message.id === again.answers : message.runId === runId && message.role === "user",
  );
  // What was to be answered again, and was left to a person or was in another branch, ends as it begins.
  if (!said && instruction === null && outcome === null)
    truth.problems.push({ invariant: "one-run-at-a-time", text: `${runId} begins without a message` });
  if (truth.active) {
    const text = `${runId} begins while ${truth.active.runId} goes on`;
    truth.problems.push({ invariant: "one-run-at-a-time", text });
  }
  truth.active = {
    runId,
    text: said?.content ?? "",
    instruction,
    asked: said?.id ?? null,
    begunAtMs: atMs,
    begunBy: by,
    waited,
    endedAtMs: null,
    outcome: null,
    isLeft: false,
    reply: null,
    streams: new Map(),
  };
  truth.runs.set(runId, truth.active);
}

function saveRun(truth: ThreadTruth, record: RunRecord, { atMs }: Commit): void {
  const run = truth.runs.get(record.runId);
  if (!run) return;
  const { outcome, terminal } = record;
  run.isLeft = terminal?.type === "done" && terminal.handledBy === "person";
  const replies = truth.messages.filter(({ runId, role }) => runId === record.runId && role === "assistant");
  if (run.outcome === null && outcome !== null) {
    Object.assign(run, { outcome, endedAtMs: atMs, reply: replies[0]?.content ?? null });
    if (truth.active === run) truth.active = null;
  }
  const least = run.outcome === null || run.isLeft ? 0 : 1;
  const most = run.outcome === null ? 0 : 1;
  if (run.outcome !== outcome || replies.length < least || replies.length > most) {
    const text = `${record.runId} was ${run.outcome}, is ${outcome}, and has ${replies.length} replies`;
    truth.problems.push({ invariant: "a-run-ends-once", text });
  }
  if (record.answered) run.streams.set(record.answered.callId, record.streamFrom);
  if (terminal) truth.endings.push(endingOf(record, terminal, keptText(truth, record), run.streams));
}

function endingOf(
  { runId, outcome, lines }: RunRecord,
  terminal: TerminalLine,
  textOfParts: string,
  streams: RunTruth["streams"],
): Ending {
  const whole = withText(lines, textOfParts);
  const told = (some: typeof whole): Told => ({ text: textOf(some), steps: foldSteps(some) });
  const sinceResult = new Map(
    [...streams].map(([callId, from]) => [callId, told(whole.slice(from))] as const),
  );
  return { runId, outcome, terminal, whole: told(whole), sinceResult };
}

function keptText({ parts }: ThreadTruth, { runId, kept }: Pick<RunRecord, "runId" | "kept">): string {
  return Array.from({ length: kept?.parts ?? 0 }, (_, nth) => parts.get(`${runId} ${nth}`) ?? "").join("");
}
