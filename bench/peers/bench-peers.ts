import { askAllAtOnce } from "../rig/all-at-once.ts";
import type { Slow } from "../rig/all-at-once.ts";
import { LOAD_CORE, pin } from "../rig/cores.ts";
import { load, pause } from "../rig/load.ts";
import type { Measured } from "../rig/load.ts";
import { startModel } from "../rig/model.ts";
import { median, quantile, shown, withSpread } from "../rig/numbers.ts";
import { print, tell } from "../rig/section.ts";
import { memoryMbOf } from "../rig/usage.ts";
import { peers, startOurs, startPeer } from "./peers.ts";
import type { Subject } from "./peers.ts";

/**
 * `npm run bench:peers`: the same job on what somebody would run instead. `-- by-hand mastra` starts only those. All of
 * them run at once, and take turns under the load.
 */
const REPEATS = Number(process.env["BENCH_REPEATS"] ?? 3);
const CHUNKS = 20;
const SLOW_STREAMS = 500;
const SLOW_EVERY_MS = 200;

const CELLS = [
  { users: 16, everyMs: 0 },
  { users: 64, everyMs: 0 },
  { users: 256, everyMs: 0 },
  { users: 64, everyMs: 20 },
  { users: 256, everyMs: 20 },
];

/** What one subject did in one cell; or the reason why it could not. */
type Outcome<Result> = Result[] | Error;

const model = await startModel();

async function start(): Promise<Subject[]> {
  const wanted = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
  const subjects = [await startOurs("service", model.baseUrl), await startOurs("floor", model.baseUrl)];
  for (const peer of peers) {
    if (wanted.length > 0 && !wanted.includes(peer.folder)) continue;
    tell(`starting ${peer.name}`);
    try {
      subjects.push(await startPeer(peer, model.baseUrl));
    } catch (error) {
      tell(`cannot start ${peer.name}: ${String(error)}`);
    }
  }
  return subjects;
}

/** Turn by turn; who fails once is not asked again in this cell. */
async function inTurns<Result>(
  subjects: Subject[],
  repeats: number,
  ask: (subject: Subject) => Promise<Result>,
): Promise<Outcome<Result>[]> {
  const outcomes: Outcome<Result>[] = subjects.map(() => []);
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const [i, subject] of subjects.entries()) {
      const outcome = outcomes[i];
      if (!Array.isArray(outcome)) continue;
      try {
        outcome.push(await ask(subject));
      } catch (error) {
        tell(`${subject.name}: ${String(error)}`);
        outcomes[i] = error instanceof Error ? error : new Error(String(error));
      }
    }
  }
  return outcomes;
}

function loadOf({ users, everyMs }: (typeof CELLS)[number]): (subject: Subject) => Promise<Measured> {
  const replyMs = everyMs * CHUNKS;
  return async (subject) => {
    await model.pace({ everyMs });
    const watched = subject.pids();
    return load(subject.asking(), {
      users,
      watched,
      spreadMs: replyMs,
      warmMs: 800 + replyMs,
      windowMs: 2_000,
    });
  };
}

function cellOf(outcome: Outcome<Measured> | undefined): string[] {
  if (!Array.isArray(outcome)) return ["failed", "–", "–"];
  const first = outcome.map(({ firstMs }) => quantile(firstMs, 0.5));
  const late = outcome.map(({ firstMs }) => quantile(firstMs, 0.99));
  return [
    withSpread(outcome.map(({ perSecond }) => perSecond)),
    `${shown(median(first))} / ${shown(median(late))}`,
    withSpread(outcome.map(({ cpuMs }) => cpuMs)),
  ];
}

function slowCellOf(outcome: Outcome<Slow> | undefined): string[] {
  if (!Array.isArray(outcome)) return ["failed", "–", "–"];
  const of = (pick: (slow: Slow) => number[], share: number) =>
    shown(median(outcome.map((slow) => quantile(pick(slow), share))));
  return [
    `${of(({ firstMs }) => firstMs, 0.5)} / ${of(({ firstMs }) => firstMs, 0.99)}`,
    `${of(({ totalMs }) => totalMs, 0.5)} / ${of(({ totalMs }) => totalMs, 0.99)}`,
    withSpread(outcome.map(({ cpuMs }) => cpuMs)),
  ];
}

pin(process.pid, LOAD_CORE);
const subjects = await start();
try {
  await pause(2_000);
  const idleMb = subjects.map((subject) => memoryMbOf(subject.pids()));
  // Warms all of them up, and is forgotten.
  await inTurns(subjects, 1, loadOf({ users: 64, everyMs: 0 }));

  const tables = [];
  const byHand = subjects.findIndex(({ name }) => name.includes("by hand"));
  const targets = [];
  for (const cell of CELLS) {
    const name = `${cell.users} users, ${cell.everyMs === 0 ? "burst" : `${cell.everyMs} ms`}`;
    tell(name);
    const outcomes = await inTurns(subjects, REPEATS, loadOf(cell));
    tables.push({
      caption: `${name}. First text p50 / p99 from the request on; CPU of the whole stack for one message.`,
      head: ["who", "msg/s on one core", "first text ms", "CPU ms"],
      rows: subjects.map((subject, i) => [subject.name, ...cellOf(outcomes[i])]),
    });
    const [ours, theirs] = [outcomes[0], outcomes[byHand]];
    if (Array.isArray(ours) && Array.isArray(theirs)) {
      const ratios = ours.map(({ cpuMs }, i) => cpuMs / (theirs[i]?.cpuMs ?? NaN));
      targets.push({
        says: `a message costs no more CPU than by hand (${name})`,
        measured: `${withSpread(ratios)} times`,
        met: median(ratios) <= 1,
      });
    }
  }

  tell(`${SLOW_STREAMS} slow streams`);
  const slow = await inTurns(subjects, 1, async (subject) => {
    await model.pace({ everyMs: SLOW_EVERY_MS });
    return askAllAtOnce(subject.asking(), SLOW_STREAMS, subject.pids());
  });
  tables.push({
    caption: `${SLOW_STREAMS} streams of 20 chunks, ${SLOW_EVERY_MS} ms apart, all begun at one moment; and memory (RSS) of all processes of the stack.`,
    head: ["who", "first text ms", "whole reply ms", "CPU ms", "idle MB", "MB after it all"],
    rows: subjects.map((subject, i) => [
      subject.name,
      ...slowCellOf(slow[i]),
      shown(idleMb[i] ?? NaN),
      shown(memoryMbOf(subject.pids())),
    ]),
  });
  print({ title: "Peers", tables, targets });
} finally {
  for (const subject of subjects) await subject.stop();
  model.stop();
}
