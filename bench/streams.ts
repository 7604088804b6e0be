import { askAllAtOnce } from "./rig/all-at-once.ts";
import type { Slow } from "./rig/all-at-once.ts";
import { askModel, askServerApi, askWidgetApi, makeVisitors } from "./rig/askings.ts";
import { openConnection } from "./rig/connection.ts";
import type { Connection, IsFirst } from "./rig/connection.ts";
import { LOAD_CORE, pin } from "./rig/cores.ts";
import { load, pause } from "./rig/load.ts";
import type { Asking } from "./rig/load.ts";
import { startModel } from "./rig/model.ts";
import { median, quantile, shown, withSpread } from "./rig/numbers.ts";
import { readOptions } from "./rig/options.ts";
import { newNonce, textWith } from "./rig/reply.ts";
import { print, tell } from "./rig/section.ts";
import { startStack } from "./rig/stack.ts";
import type { Stack } from "./rig/stack.ts";
import { cpuMsOf, memoryMbOf } from "./rig/usage.ts";

/**
 * What does an open stream cost? 500 slow ones at once, to their end: how much later than the model's own does their
 * first line come, and what CPU do they take? And thousands that wait for a model that thinks: how much memory do they take?
 * Each waiting stream takes two descriptors of the process, its client's and its model's.
 */
const SLOW_STREAMS = 500;
const SLOW_EVERY_MS = 200;
const IDLE_STREAMS = 9_000;
/** At most this many are compressed at once; later ones are sent uncompressed. */
const GZIP_STREAMS = 2_000;
const OPENED_AT_ONCE = 64;
const REPEATS = 2;
const { listener = "uws" } = readOptions(process.argv.slice(2));
const BASE = { listener, store: "redis" } as const;

async function warm(stack: Stack): Promise<void> {
  await model.pace({ everyMs: 0 });
  const plan = { users: 64, warmMs: 0, windowMs: 3_000, spreadMs: 0, watched: [] };
  await load(askServerApi(stack.port), plan);
}

async function slowStreams(): Promise<string[][]> {
  const service = await startStack("service", { ...BASE, modelUrl: model.baseUrl });
  const floor = await startStack("floor", { ...BASE, modelUrl: model.baseUrl });
  const subjects: { name: string; ask: () => Promise<Slow> }[] = [
    { name: "the model itself", ask: () => askAllAtOnce(askModel(model.port), SLOW_STREAMS, [model.pid]) },
    ...[false, true].flatMap((gzip) =>
      [
        { name: "floor", stack: floor },
        { name: "service", stack: service },
      ].map(({ name, stack }) => ({
        name: `${name}, ${gzip ? "gzip" : "plain"}`,
        ask: async () => {
          await model.pace({ everyMs: 0 });
          const visitors = await makeVisitors(stack.port, SLOW_STREAMS, 1);
          await model.pace({ everyMs: SLOW_EVERY_MS });
          return askAllAtOnce(askWidgetApi(stack.port, visitors, gzip), SLOW_STREAMS, stack.pids);
        },
      })),
    ),
  ];
  try {
    await warm(service);
    await warm(floor);
    const measured = subjects.map(({ name }) => ({ name, slow: [] as Slow[] }));
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      for (const [i, { name, ask }] of subjects.entries()) {
        tell(`${SLOW_STREAMS} slow streams, ${name}`);
        await model.pace({ everyMs: SLOW_EVERY_MS });
        measured[i]?.slow.push(await ask());
      }
    }
    return measured.map(({ name, slow }) => rowOfSlow(name, slow));
  } finally {
    await service.stop();
    await floor.stop();
  }
}

function rowOfSlow(name: string, slow: Slow[]): string[] {
  const told = (pick: (one: Slow) => number[], share: number) =>
    shown(median(slow.map((one) => quantile(pick(one), share))));
  return [
    name,
    `${told(({ firstMs }) => firstMs, 0.5)} / ${told(({ firstMs }) => firstMs, 0.99)}`,
    `${told(({ totalMs }) => totalMs, 0.5)} / ${told(({ totalMs }) => totalMs, 0.99)}`,
    withSpread(slow.map(({ cpuMs }) => cpuMs)),
  ];
}

interface Waiting {
  streams: number;
  /** Memory of the server's process before the first stream is opened, with its code warm. */
  beforeMb: number;
  /** With all of them open. */
  openMb: number;
  redisMb: number;
  cpuMsEach: number;
  openedMs: number;
}

/** Opens streams whose model sends one word and then goes on thinking. */
async function waitingStreams(what: "service" | "floor", streams: number, gzip: boolean): Promise<Waiting> {
  tell(`${streams} waiting streams, ${what}, ${gzip ? "gzip" : "plain"}`);
  const stack = await startStack(what, { ...BASE, modelUrl: model.baseUrl });
  const connections: Connection[] = [];
  try {
    await warm(stack);
    await pause(1_000);
    await model.pace({ holds: true });
    const { pid } = stack.server;
    const [beforeMb, cpuBefore, beganAt] = [memoryMbOf([pid]), cpuMsOf([pid]), performance.now()];
    const asking = askServerApi(stack.port, gzip);
    let next = 0;
    await Promise.all(
      Array.from({ length: OPENED_AT_ONCE }, async () => {
        while (next < streams) connections.push(await openStream(asking, next++));
      }),
    );
    const openedMs = performance.now() - beganAt;
    const cpuMsEach = (cpuMsOf([pid]) - cpuBefore) / streams;
    await pause(3_000);
    const others = stack.pids.filter((other) => other !== pid);
    return { streams, beforeMb, openMb: memoryMbOf([pid]), redisMb: memoryMbOf(others), cpuMsEach, openedMs };
  } finally {
    for (const connection of connections) connection.close();
    await stack.stop();
  }
}

/** Resolves when its first line has come. */
function openStream(asking: Asking, user: number): Promise<Connection> {
  const connection = openConnection(asking.port);
  return new Promise((resolve, reject) => {
    const { bytes, isFirst } = asking.request(user, 0, textWith(newNonce()));
    const resolveAtFirst: IsFirst = (part, before) => {
      const isIt = isFirst(part, before);
      if (isIt) resolve(connection);
      return isIt;
    };
    connection
      .ask({ bytes, isFirst: resolveAtFirst })
      .then(
        ({ status }) => reject(new Error(`Cannot keep a stream open: it ended with status ${status}`)),
        reject,
      );
  });
}

const kbEach = ({ streams, beforeMb, openMb }: Waiting) => ((openMb - beforeMb) * 1024) / streams;

function rowOfWaiting(name: string, waiting: Waiting): string[] {
  const { streams, beforeMb, openMb, redisMb, cpuMsEach, openedMs } = waiting;
  return [
    `${streams.toLocaleString("en-US")} ${name}`,
    shown(beforeMb),
    shown(openMb),
    shown(kbEach(waiting)),
    shown(cpuMsEach),
    shown(openedMs / 1000),
    shown(redisMb),
  ];
}

pin(process.pid, LOAD_CORE);
const model = await startModel();
try {
  const slow = await slowStreams();
  const idle = await waitingStreams("service", IDLE_STREAMS, false);
  const plain = await waitingStreams("service", GZIP_STREAMS, false);
  const gzip = await waitingStreams("service", GZIP_STREAMS, true);
  const floor = await waitingStreams("floor", GZIP_STREAMS, false);
  const worstPlain = Math.max(kbEach(idle), kbEach(plain));
  print({
    title: "Streams",
    tables: [
      {
        caption: `${SLOW_STREAMS} streams of 20 chunks, ${SLOW_EVERY_MS} ms apart, all begun at one moment: the burst of beginnings is what delays first lines. p50 / p99; medians of ${REPEATS}.`,
        head: ["who", "first line ms", "whole reply ms", "CPU ms per message"],
        rows: slow,
      },
      {
        caption:
          "Streams that wait for their model, opened 64 at a time. Memory (RSS) is the server's process, without Redis.",
        head: [
          "waiting streams",
          "MB before",
          "MB open",
          "kB per stream",
          "CPU ms to open one",
          "s to open all",
          "Redis MB",
        ],
        rows: [
          rowOfWaiting("plain", idle),
          rowOfWaiting("plain", plain),
          rowOfWaiting("gzip", gzip),
          rowOfWaiting("plain, floor", floor),
        ],
      },
    ],
    targets: [
      {
        says: "9,000 idle streams take at most 500 MB",
        measured: `${shown(idle.openMb)} MB`,
        met: idle.openMb <= 500,
      },
      {
        says: "a plain stream takes at most 15 kB",
        measured: `${shown(worstPlain)} kB`,
        met: worstPlain <= 15,
      },
      {
        says: "a gzip stream takes at most 115 kB",
        measured: `${shown(kbEach(gzip))} kB`,
        met: kbEach(gzip) <= 115,
      },
    ],
  });
} finally {
  model.stop();
}
