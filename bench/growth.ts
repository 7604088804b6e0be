import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startRedis } from "../test/support/stores/redis-server.ts";
import { visitorHost } from "../src/charts/charts.ts";
import { createVisitors } from "../src/visitors/visitors.ts";
import { systemClock } from "../src/clock.ts";
import { newId } from "../src/domain/ids.ts";
import { threadUid } from "../src/domain/threads/thread-uid.ts";
import { newVisitorToken, readVisitorToken } from "../src/domain/people/visitor-token.ts";
import type { Store } from "../src/store.ts";
import { openEmbeddedStore } from "../src/stores/embedded.ts";
import { openRedisStore } from "../src/stores/redis.ts";
import { askServerApi, SLUG } from "./rig/askings.ts";
import { filledThread } from "./rig/commits.ts";
import { LOAD_CORE, pin, SERVER_CORE } from "./rig/cores.ts";
import { load, pause } from "./rig/load.ts";
import type { Measured } from "./rig/load.ts";
import { startModel } from "./rig/model.ts";
import { median, quantile, shown, withSpread } from "./rig/numbers.ts";
import { readOptions } from "./rig/options.ts";
import { print, tell } from "./rig/section.ts";
import type { Table, Target } from "./rig/section.ts";
import type { BenchServer } from "./rig/server.ts";
import { environment, SERVICE, startServer, temporaryFolder } from "./rig/server.ts";
import { memoryMbOf } from "./rig/usage.ts";

/**
 * Do costs stay the same as data grow? A message in a thread of 10 and of 100,000; a start, and a message, with 100,000
 * threads in the store (or as many as `--threads=` says: a million takes 4 GB of disk, 5 GB of memory and some minutes);
 * a merge of 10 and of 1,000 threads, which must not look at their messages.
 */
const { listener = "uws", threads: THREADS = 100_000 } = readOptions(process.argv.slice(2));
const LENGTHS = [10, 1_000, 2_000, 100_000];
const TALKERS = 4;
const FILLED_AT_ONCE = 64;
const MESSAGES_IN_A_STEP = 500;
const REPEATS = 3;
/** A forked process rewrites a log that has doubled: this must not happen during a measurement. */
const NO_REWRITING = ["--auto-aof-rewrite-percentage", "0"];
const FILL = fileURLToPath(import.meta.resolve("./fill.js"));
type Kind = "embedded" | "redis";

/** A store that can be filled before a service starts on it. */
interface Ground {
  kind: Kind;
  redisUrl: string | null;
  dataDir: string;
  pids: number[];
  /** Opens the store only for this work: while a service runs, the embedded store belongs to it. */
  fill(work: (store: Store) => Promise<void>): Promise<void>;
  remove(): Promise<void>;
}

async function prepare(kind: Kind, onCommand?: (name: string) => void): Promise<Ground> {
  const folder = temporaryFolder();
  const redis = kind === "redis" ? await startRedis({ args: NO_REWRITING }) : null;
  if (redis) pin(redis.pid, SERVER_CORE);
  const open = () =>
    redis
      ? openRedisStore({
          urls: [redis.url],
          durability: "local",
          clock: systemClock,
          log: { warn() {} },
          ...(onCommand ? { onCommand } : {}),
        })
      : openEmbeddedStore({ dataDir: folder.path, clock: systemClock });
  return {
    kind,
    redisUrl: redis?.url ?? null,
    dataDir: folder.path,
    pids: redis ? [redis.pid] : [],
    async fill(work) {
      const store = await open();
      await work(store);
      await store.close();
    },
    async remove() {
      await redis?.stop();
      folder.remove();
    },
  };
}

function startService({ redisUrl, dataDir }: Ground) {
  const env = environment({ listener, redisUrl, dataDir, modelUrl: model.baseUrl });
  return startServer(SERVICE, env);
}

/** Runs the work `count` times, a few at a time. */
async function each(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: FILLED_AT_ONCE }, async () => {
      while (next < count) await work(next++);
    }),
  );
}

async function fillThread(store: Store, uid: string, userId: string, messages: number): Promise<void> {
  let before: { readOp?: string } = {};
  for (let from = 0, rev = 0; from < messages; from += MESSAGES_IN_A_STEP, rev++) {
    const count = Math.min(MESSAGES_IN_A_STEP, messages - from);
    const commit = filledThread({ uid, userId, rev, ...before, from, count });
    await store.commit(commit);
    before = { readOp: commit.opId };
  }
}

async function longThreads(kind: Kind): Promise<{ row: string[]; cpuMs: number[] }> {
  const ground = await prepare(kind);
  const nameOf = (messages: number, user: number) => ({ userId: `of-${messages}-${user}`, threadId: "long" });
  await ground.fill(async (store) => {
    for (const messages of LENGTHS) {
      tell(`${kind}: filling ${TALKERS} threads of ${messages} messages`);
      await Promise.all(
        Array.from({ length: TALKERS }, (_, user) => {
          const { userId, threadId } = nameOf(messages, user);
          return fillThread(store, threadUid(SLUG, userId, threadId), userId, messages);
        }),
      );
    }
  });
  const server = await startService(ground);
  const measured = new Map<number, Measured[]>(LENGTHS.map((messages) => [messages, []]));
  for (let repeat = 0; repeat <= REPEATS; repeat++) {
    for (const messages of LENGTHS) {
      const asking = askServerApi(server.port, false, (user) => nameOf(messages, user));
      const plan = {
        users: TALKERS,
        warmMs: 50,
        windowMs: 250,
        spreadMs: 0,
        watched: [server.pid, ...ground.pids],
      };
      const one = await load(asking, plan);
      // The first one warms up, and is forgotten.
      if (repeat > 0) measured.get(messages)?.push(one);
    }
  }
  await server.stop();
  await ground.remove();
  const all = LENGTHS.map((messages) => measured.get(messages) ?? []);
  return {
    row: [kind, ...all.map((repeats) => withSpread(repeats.map(({ cpuMs }) => cpuMs)))],
    cpuMs: all.map((repeats) => median(repeats.map(({ cpuMs }) => cpuMs))),
  };
}

/** In a process of its own: `fill.ts`. */
async function fillThreads({ kind, redisUrl, dataDir }: Ground, threads: number): Promise<void> {
  tell(`${kind}: filling ${threads} threads`);
  const beganAt = performance.now();
  const child = spawn(process.execPath, [FILL, kind, redisUrl ?? dataDir, String(threads)], {
    stdio: "inherit",
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`Cannot fill the store: exit code ${code}`);
  tell(`${kind}: filled in ${Math.round((performance.now() - beganAt) / 1000)} s`);
}

interface Start {
  startMs: number;
  memoryMb: number;
}

/** A start, and its memory after a rest with nothing connected. */
async function startAndRest(ground: Ground): Promise<Start> {
  const server = await startService(ground);
  await pause(1_500);
  const memoryMb = memoryMbOf([server.pid]);
  await server.stop();
  return { startMs: server.startMs, memoryMb };
}

interface Filled {
  threads: number;
  starts: Start[];
  redisMb: number;
  messages: Measured[];
}

/** Measures an empty and a full store in the same way; their services take turns under the load. */
async function manyThreads(kind: Kind): Promise<Filled[]> {
  const stands: { ground: Ground; server: BenchServer; filled: Filled }[] = [];
  for (const threads of [0, THREADS]) {
    const ground = await prepare(kind);
    if (threads > 0) {
      // The first start writes the channel that the threads belong to.
      await startAndRest(ground);
      await fillThreads(ground, threads);
    }
    const starts: Start[] = [];
    for (let repeat = 0; repeat < REPEATS; repeat++) starts.push(await startAndRest(ground));
    const server = await startService(ground);
    stands.push({
      ground,
      server,
      filled: { threads, starts, redisMb: memoryMbOf(ground.pids), messages: [] },
    });
  }
  for (let repeat = 0; repeat <= REPEATS; repeat++) {
    for (const { ground, server, filled } of stands) {
      const watched = [server.pid, ...ground.pids];
      const plan = { users: 64, warmMs: repeat === 0 ? 1_500 : 200, windowMs: 1_000, spreadMs: 0, watched };
      const one = await load(askServerApi(server.port), plan);
      // The first one warms up, and is forgotten.
      if (repeat > 0) filled.messages.push(one);
    }
  }
  for (const { ground, server } of stands) {
    await server.stop();
    await ground.remove();
  }
  return stands.map(({ filled }) => filled);
}

const idleMbOf = ({ starts }: Filled) => median(starts.map(({ memoryMb }) => memoryMb));
const startMsOf = ({ starts }: Filled) => median(starts.map(({ startMs }) => startMs));
const cpuMsOf = ({ messages }: Filled) => median(messages.map(({ cpuMs }) => cpuMs));

function rowOf(kind: Kind, { threads, starts, redisMb, messages }: Filled): string[] {
  return [
    kind,
    threads.toLocaleString("en-US"),
    withSpread(starts.map(({ startMs }) => startMs)),
    withSpread(starts.map(({ memoryMb }) => memoryMb)),
    kind === "redis" ? shown(redisMb) : "–",
    withSpread(messages.map(({ cpuMs }) => cpuMs)),
    shown(median(messages.map(({ firstMs }) => quantile(firstMs, 0.5)))),
  ];
}

const MERGES = [
  { threads: 10, messages: 100 },
  { threads: 1_000, messages: 1 },
  { threads: 1_000, messages: 100 },
];

interface Merging {
  ms: number[];
  calls: string;
}

/** Merges anonymous visitors with this many threads into an existing account. */
async function mergeThreads(
  kind: Kind,
  { threads, messages }: { threads: number; messages: number },
): Promise<Merging> {
  const calls: string[] = [];
  const ground = await prepare(kind, (name) => calls.push(name));
  const ms: number[] = [];
  let made = "";
  tell(`${kind}: merging ${threads} threads of ${messages} messages`);
  await ground.fill(async (store) => {
    const visitors = createVisitors({ store, clock: systemClock, ttlMs: 86_400_000 });
    await store.putChannel(channel);
    for (let repeat = 0; repeat < REPEATS; repeat++) {
      const [visitorToken, userId, externalId] = [newVisitorToken(SLUG), newId(), `account-${repeat}`];
      const tokenHash = readVisitorToken(visitorToken)?.tokenHash ?? "";
      const atMs = Date.now();
      await store.mintVisitor({
        slug: SLUG,
        tokenHash,
        userId,
        snapshot: visitorHost.freeze(visitorHost.initial()),
        ttlMs: 86_400_000,
        atMs,
      });
      await store.admitUser({
        slug: SLUG,
        externalId,
        displayName: null,
        newUserId: newId(),
        thread: null,
        creates: true,
        atMs,
      });
      await each(threads, async () => {
        const uid = newId();
        await store.addThread({ slug: SLUG, userId, threadId: uid, uid, atMs });
        await fillThread(store, uid, userId, messages);
      });
      calls.length = 0;
      const beganAt = performance.now();
      const { merged } = await visitors.identify({ slug: SLUG, visitorToken, externalId });
      ms.push(performance.now() - beganAt);
      made = calls.join(", then ");
      if (!merged) throw new Error("Cannot measure: nothing was merged");
    }
  });
  await ground.remove();
  return { ms, calls: made };
}

const channel = {
  slug: SLUG,
  kind: "web" as const,
  publishableKey: "pk_bench",
  secretKeyHash: null,
  allowedOrigins: [],
  enabled: true,
  accessMode: "open" as const,
  agent: {},
};

pin(process.pid, LOAD_CORE);
const model = await startModel();
const tables: Table[] = [];
const targets: Target[] = [];
try {
  await model.pace({ everyMs: 0 });
  const long = [await longThreads("embedded"), await longThreads("redis")];
  tables.push({
    caption: `CPU ms of the stack for a message in a thread of so many, ${TALKERS} users in a thread each. The model is given the newest 32,000 tokens: with these messages of 80 characters that is reached at about 1,500, and from there on a message must cost the same.`,
    head: ["store", ...LENGTHS.map((messages) => `${messages.toLocaleString("en-US")} messages`)],
    rows: long.map(({ row }) => row),
  });
  const growths = long.map(({ cpuMs }) => (cpuMs[3] ?? NaN) / (cpuMs[2] ?? NaN));
  targets.push({
    says: "a message in a thread of 100,000 costs what it costs in one of 2,000 (within 20 %)",
    measured: growths.map((growth) => `${shown(growth)} times`).join(" embedded, ") + " Redis",
    met: growths.every((growth) => growth < 1.2),
  });

  const many: { kind: Kind; filled: Filled[] }[] = [];
  for (const kind of ["embedded", "redis"] as const) many.push({ kind, filled: await manyThreads(kind) });
  tables.push({
    caption:
      "A start, to the line that says where it listens, and the memory (RSS) of the process after a rest with nothing connected. A message: 64 users, burst.",
    head: [
      "store",
      "threads in it",
      "start ms",
      "idle MB",
      "Redis MB",
      "CPU ms per message",
      "first line p50 ms",
    ],
    rows: many.flatMap(({ kind, filled }) => filled.map((one) => rowOf(kind, one))),
  });
  const all = many.flatMap(({ filled }) => filled);
  targets.push({
    says: "idle, it takes at most 60 MB, however many threads there are",
    measured: `at most ${shown(Math.max(...all.map(idleMbOf)))} MB`,
    met: all.every((one) => idleMbOf(one) <= 60),
  });
  targets.push({
    says: "a start takes at most a second, however many threads there are",
    measured: `at most ${shown(Math.max(...all.map(startMsOf)))} ms`,
    met: all.every((one) => startMsOf(one) <= 1_000),
  });
  const dearer = many.map(({ filled: [empty, full] }) =>
    empty && full ? cpuMsOf(full) / cpuMsOf(empty) : NaN,
  );
  targets.push({
    says: `a message costs with ${THREADS.toLocaleString("en-US")} threads in the store what it costs with none (within 20 %)`,
    measured: `${dearer.map(shown).join(" times embedded, ")} times Redis`,
    met: dearer.every((times) => times < 1.2),
  });

  const merges: string[][] = [];
  for (const kind of ["embedded", "redis"] as const) {
    const measured: Merging[] = [];
    for (const size of MERGES) measured.push(await mergeThreads(kind, size));
    merges.push([kind, ...measured.map(({ ms }) => withSpread(ms))]);
    const [, few, all] = measured.map(({ ms }) => median(ms));
    const calls = measured.at(-1)?.calls ?? "";
    targets.push({
      says: `a merge's time does not grow with the messages (${kind})`,
      measured: `${shown(few ?? NaN)} ms with 1,000 messages, ${shown(all ?? NaN)} ms with 100,000${calls === "" ? "" : `; it makes these calls: ${calls}`}`,
      met: (all ?? NaN) < 1.5 * (few ?? NaN),
    });
  }
  tables.push({
    caption: "A merge, ms.",
    head: [
      "store",
      ...MERGES.map(({ threads, messages }) => `${threads.toLocaleString("en-US")} threads of ${messages}`),
    ],
    rows: merges,
  });
  print({ title: "Growth", tables, targets });
} finally {
  model.stop();
}
