import { startRedis } from "../test/support/stores/redis-server.ts";
import { startRedisCluster } from "../test/support/stores/redis-cluster.ts";
import { visitorHost } from "../src/charts/charts.ts";
import { systemClock } from "../src/clock.ts";
import { newId } from "../src/domain/ids.ts";
import type { Channel } from "../src/domain/channels/channel.ts";
import type { Store } from "../src/store.ts";
import { openEmbeddedStore } from "../src/stores/embedded.ts";
import { openRedisStore } from "../src/stores/redis.ts";
import { SLUG } from "./rig/askings.ts";
import { claimOf, filledThread, finishOf } from "./rig/commits.ts";
import { pin, SERVER_CORE } from "./rig/cores.ts";
import { quantile, shown, withSpread } from "./rig/numbers.ts";
import { countRoundTrips } from "./rig/round-trips.ts";
import { print, tell } from "./rig/section.ts";
import { temporaryFolder } from "./rig/server.ts";
import { cpuMsOf } from "./rig/usage.ts";

/**
 * What does a store step cost, on each implementation: the four steps that a conversation consists of? One caller measures
 * its time, 64 at once its cost: the CPU of client and server together, on one core.
 *
 * And how many times does a widget message wait for the store? This is counted, not derived.
 */
interface OpenedStore {
  name: string;
  store: Store;
  /** This process and the servers. */
  pids: number[];
  close(): Promise<void>;
}

const log = { warn() {} };
const noWarnings = { durability: "local", clock: systemClock, log } as const;

async function openEmbedded(): Promise<OpenedStore> {
  const folder = temporaryFolder();
  const store = await openEmbeddedStore({ dataDir: folder.path, clock: systemClock });
  const close = async () => {
    await store.close();
    folder.remove();
  };
  return { name: "embedded", store, pids: [process.pid], close };
}

async function openRedis(): Promise<OpenedStore> {
  const redis = await startRedis();
  const store = await openRedisStore({ ...noWarnings, urls: [redis.url] });
  const close = async () => {
    await store.close();
    await redis.stop();
  };
  return { name: "Redis", store, pids: [process.pid, redis.pid], close };
}

async function openCluster(): Promise<OpenedStore> {
  const cluster = await startRedisCluster();
  const store = await openRedisStore({ ...noWarnings, urls: cluster.urls });
  const close = async () => {
    await store.close();
    await cluster.stop();
  };
  return {
    name: "Redis Cluster of three",
    store,
    pids: [process.pid, ...cluster.nodes.map(({ pid }) => pid)],
    close,
  };
}

const channel: Channel = {
  slug: SLUG,
  kind: "web",
  publishableKey: "pk_bench",
  secretKeyHash: null,
  allowedOrigins: [],
  enabled: true,
  accessMode: "open",
  agent: {},
};

/** A visitor with a thread of ten messages. */
interface Subject {
  uid: string;
  userId: string;
  tokenHash: string;
  rev: number;
  readOp: string;
  messageCount: number;
}

const TTL_MS = 86_400_000;
const MESSAGES = 10;

async function newSubject(store: Store): Promise<Subject> {
  const [uid, userId, tokenHash] = [newId(), newId(), newId()];
  const atMs = Date.now();
  const snapshot = visitorHost.freeze(visitorHost.initial());
  await store.mintVisitor({ slug: SLUG, tokenHash, userId, snapshot, ttlMs: TTL_MS, atMs });
  await store.addThread({ slug: SLUG, userId, threadId: uid, uid, atMs });
  const filled = filledThread({ uid, userId, rev: 0, from: 0, count: MESSAGES });
  await store.commit(filled);
  return { uid, userId, tokenHash, rev: 1, readOp: filled.opId, messageCount: MESSAGES };
}

type Step = (store: Store, subject: Subject) => Promise<unknown>;

const DONE = { type: "done", elapsedMs: 900, inputTokens: 120, outputTokens: 21 } as const;

const steps: { name: string; step: Step }[] = [
  {
    name: "admit a visitor",
    step: (store, { tokenHash, uid }) =>
      store.admitVisitor({ slug: SLUG, tokenHash, ttlMs: TTL_MS, threadId: uid }),
  },
  { name: "load (10 messages)", step: (store, { uid }) => store.load(uid, 160_000) },
  { name: "claim and finish", step: saveBoth },
  {
    name: "history (10 messages)",
    step: (store, { uid }) => store.history(uid, { limit: 10, before: null }),
  },
];

/** The two commits of a message. */
async function saveBoth(store: Store, subject: Subject): Promise<void> {
  const { uid, userId, rev, readOp, messageCount } = subject;
  const said = {
    uid,
    userId,
    rev,
    readOp,
    messageCount,
    text: "Where is the red lamp that I ordered last week?",
    runId: newId(),
    fence: `${store.processId}:${newId()}`,
    atMs: Date.now(),
  };
  await store.commit(claimOf(said));
  const finish = finishOf(said, {
    rev: rev + 1,
    text: "It will be there soon.",
    done: DONE,
    atMs: Date.now(),
  });
  const result = await store.commit(finish);
  if (result.type !== "committed") throw new Error(`Cannot measure: a commit was answered ${result.type}`);
  subject.rev = result.rev;
  subject.readOp = finish.opId;
  subject.messageCount += 2;
}

const CALLERS = 64;
const REPEATS = 3;

interface Cost {
  /** Times of one caller's steps, one after another. */
  onceMs: number[];
  /** The mean of each repeat, with 64 callers. */
  cpuUs: number[];
  perSecond: number[];
}

async function measure({ store, pids }: OpenedStore, subjects: Subject[], step: Step): Promise<Cost> {
  const cost: Cost = { onceMs: [], cpuUs: [], perSecond: [] };
  await forMs(150, subjects, (subject) => step(store, subject));
  const [first] = subjects;
  for (const endsAt = performance.now() + 150; first && performance.now() < endsAt;) {
    const beganAt = performance.now();
    await step(store, first);
    cost.onceMs.push(performance.now() - beganAt);
  }
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const [cpuBefore, beganAt] = [cpuMsOf(pids), performance.now()];
    const count = await forMs(500, subjects, (subject) => step(store, subject));
    cost.cpuUs.push(((cpuMsOf(pids) - cpuBefore) * 1000) / count);
    cost.perSecond.push((count * 1000) / (performance.now() - beganAt));
  }
  return cost;
}

/** Runs all callers at once, each in a loop of its own; returns the number of steps. */
async function forMs(
  ms: number,
  subjects: Subject[],
  step: (subject: Subject) => Promise<unknown>,
): Promise<number> {
  const endsAt = performance.now() + ms;
  let count = 0;
  await Promise.all(
    subjects.map(async (subject) => {
      while (performance.now() < endsAt) {
        await step(subject);
        count += 1;
      }
    }),
  );
  return count;
}

// Before any process is started, because they inherit it.
pin(process.pid, SERVER_CORE);
const rows: string[][] = [];
for (const open of [openEmbedded, openRedis, openCluster]) {
  const opened = await open();
  tell(opened.name);
  await opened.store.putChannel(channel);
  const subjects = await Promise.all(Array.from({ length: CALLERS }, () => newSubject(opened.store)));
  for (const { name, step } of steps) {
    const { onceMs, cpuUs, perSecond } = await measure(opened, subjects, step);
    const once = `${shown(quantile(onceMs, 0.5))} / ${shown(quantile(onceMs, 0.99))}`;
    rows.push([opened.name, name, once, withSpread(cpuUs), withSpread(perSecond)]);
  }
  await opened.close();
}

const { waits, calls } = await countRoundTrips();
print({
  title: "Stores",
  tables: [
    {
      caption: `One caller: p50 / p99. ${CALLERS} callers: CPU of client and server together, and steps a second on one core; median of ${REPEATS}, in brackets the lowest and highest.`,
      head: ["store", "step", "one caller, ms", "CPU, µs", "steps/s"],
      rows,
    },
  ],
  targets: [
    {
      says: "a widget message waits for Redis three times",
      measured: `${waits} times: ${calls}`,
      met: waits <= 3,
    },
  ],
});
