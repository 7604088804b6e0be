import { transition } from "xstate";
import type { Line } from "../machines/line.ts";
import { threadMachine } from "../machines/thread.ts";
import type { ThreadEvent } from "../machines/thread.ts";
import { threadHost as thread, visitorHost as visitor } from "../src/charts/charts.ts";
import { createReply } from "../src/threads/hold/reply.ts";
import { createRunLog } from "../src/threads/hold/run-log.ts";
import type { RunLog } from "../src/threads/hold/run-log.ts";
import { pin, SERVER_CORE } from "./rig/cores.ts";
import { median, withSpread } from "./rig/numbers.ts";
import { print } from "./rig/section.ts";

/**
 * What does an event cost in the charts? And a delta, on its way through the thread's chart and its log to its reader?
 * For comparison, the same move by hand, and by xstate's own `transition()`.
 */
const said: ThreadEvent = {
  type: "user.said",
  runId: "run",
  atMs: 1,
  limits: { toolCalls: 50, toolResultMs: 600_000 },
};
const wrote: ThreadEvent = { type: "agent.wrote", text: " it will be" };
const finished: ThreadEvent = { type: "agent.finished", usage: { input: 120, output: 21 }, atMs: 900 };

const idle = thread.initial();
const thinking = thread.decide(idle, said).next;
const ended = thread.decide(thinking, finished).next;
const thinkingText = thread.freeze(thinking);
const anonymous = visitor.initial();

/** The deltas of a reply; its log joins their texts. */
const DELTAS = 20;
let deltas = 0;
let linesRead = 0;
let runLog = openRunLog();

function openRunLog(): RunLog {
  const opened = createRunLog("run");
  const reply = createReply("run");
  reply.read((lines) => (linesRead += lines.length));
  opened.attach(reply, 0);
  return opened;
}

/** A delta's whole way in this process: the thread's chart, the run's log, the reply, the reader. */
function passDelta(): void {
  if (deltas++ % DELTAS === 0) runLog = openRunLog();
  const { outcome } = thread.decide(thinking, wrote);
  for (const part of outcome) if (part.kind === "emitted") runLog.say([part.line]);
}

interface Subject {
  name: string;
  run: () => unknown;
}

/** The same move without a chart: only the condition that decides it. */
function byHand(state: "idle" | "thinking", event: ThreadEvent): { next: string; lines: Line[] } {
  const passes = state === "thinking" && event.type === "agent.wrote";
  return { next: state, lines: passes ? [{ type: "delta", text: event.text }] : [] };
}

let sink: unknown;
const subjects: Subject[] = [
  { name: "thread: a delta (`agent.wrote`), nothing to save", run: () => thread.decide(thinking, wrote) },
  { name: "thread: `user.said`, a run begins", run: () => thread.decide(ended, said) },
  { name: "thread: `agent.finished`, the run ends", run: () => thread.decide(thinking, finished) },
  { name: "thread: to text for the store", run: () => thread.freeze(thinking) },
  { name: "thread: from the store's text", run: () => thread.thaw(thinkingText) },
  {
    name: "visitor: `token.used`, nothing to save",
    run: () => visitor.decide(anonymous, { type: "token.used" }),
  },
  { name: "a delta through the chart to its reader", run: passDelta },
  { name: "by hand, the same delta", run: () => byHand("thinking", wrote) },
  {
    name: "xstate's own `transition()`, the same delta",
    run: () => transition(threadMachine, thinking, wrote),
  },
];

const BATCH_MS = 60;
const REPEATS = 7;

/** CPU µs of a run; the process does nothing else meanwhile. */
function microseconds({ run }: Subject, runs: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < runs; i++) sink = run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
}

function measure(subject: Subject): number[] {
  const warmed = microseconds(subject, 20_000);
  const runs = Math.max(1_000, Math.round((BATCH_MS * 1000) / warmed));
  return Array.from({ length: REPEATS }, () => microseconds(subject, runs));
}

pin(process.pid, SERVER_CORE);
const measured = subjects.map((subject) => ({ subject, repeats: measure(subject) }));
const delta = measured.find(({ subject }) => subject.run === passDelta)?.repeats ?? [];
if (linesRead < deltas || sink === undefined) throw new Error("Cannot measure: nothing ran");

print({
  title: "Transitions",
  tables: [
    {
      caption: `CPU for each, median of ${REPEATS}, in brackets the lowest and highest.`,
      head: ["what", "µs"],
      rows: measured.map(({ subject, repeats }) => [subject.name, withSpread(repeats)]),
    },
  ],
  targets: [
    {
      says: "a delta costs less than 5 µs through both charts",
      measured: `${withSpread(delta)} µs`,
      met: median(delta) < 5,
    },
  ],
});
