import { startRedis } from "../test/support/stores/redis-server.ts";
import type { RedisServer } from "../test/support/stores/redis-server.ts";
import { askServerApi, makeVisitors, ORIGIN, SLUG, TRANSPORT_KEY } from "./rig/askings.ts";
import { openConnection } from "./rig/connection.ts";
import { LOAD_CORE, pin, SERVER_CORE } from "./rig/cores.ts";
import { openFeed } from "./rig/feed.ts";
import type { OpenFeed } from "./rig/feed.ts";
import { pause } from "./rig/load.ts";
import { startModel } from "./rig/model.ts";
import { quantile, shown } from "./rig/numbers.ts";
import { readOptions } from "./rig/options.ts";
import { newNonce, textWith } from "./rig/reply.ts";
import { trafficOf } from "./rig/redis-traffic.ts";
import { print, tell } from "./rig/section.ts";
import { environment, SERVICE, startServer, temporaryFolder } from "./rig/server.ts";
import type { BenchServer } from "./rig/server.ts";
import { cpuMsOf, memoryMbOf } from "./rig/usage.ts";

/**
 * What does an open feed cost? 10,000 at rest, each of a thread of its own: memory, CPU, commands of Redis. 1,000 on
 * one thread: when the last of them gets a message. And a message that is sent to one instance: when a feed of another
 * instance gets it, counted from the request, so the commit is included.
 */
const { listener = "uws" } = readOptions(process.argv.slice(2));
const IDLE_FEEDS = 10_000;
/** As long as the longest interval of a watched thread's periodic requests, so that all of them are counted. */
const REST_MS = 60_000;
const CROWD = 1_000;
const CROWD_MESSAGES = 20;
const MESSAGES = 300;
const OPENED_AT_ONCE = 64;
const BETWEEN_MS = 20;

interface Instances {
  redis: RedisServer;
  servers: BenchServer[];
  stop(): Promise<void>;
}

async function startInstances(count: number): Promise<Instances> {
  const folder = temporaryFolder();
  const redis = await startRedis();
  pin(redis.pid, SERVER_CORE);
  const env = environment({
    listener,
    redisUrl: redis.url,
    dataDir: folder.path,
    modelUrl: model.baseUrl,
  });
  const servers: BenchServer[] = [];
  for (let nth = 0; nth < count; nth++) servers.push(await startServer(SERVICE, env));
  return {
    redis,
    servers,
    async stop() {
      for (const server of servers) await server.stop();
      await redis.stop();
      folder.remove();
    },
  };
}

async function atOnce<Made>(count: number, make: (nth: number) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: OPENED_AT_ONCE }, async () => {
      while (next < count) made.push(await make(next++));
    }),
  );
  return made;
}

async function commandsOf(redis: RedisServer): Promise<number> {
  return (await trafficOf(redis.url)).commands;
}

interface Rest {
  beforeMb: number;
  openMb: number;
  openedMs: number;
  /** Redis commands a second, with and without the feeds. */
  commands: number;
  commandsBefore: number;
  /** The share of the server's core. */
  cpuShare: number;
  redisCpuShare: number;
}

async function resting(): Promise<Rest> {
  tell(`${IDLE_FEEDS} feeds at rest`);
  const instances = await startInstances(1);
  const { redis, servers } = instances;
  const feeds: OpenFeed[] = [];
  try {
    const [server] = servers;
    if (!server) throw new Error("Cannot measure: no server was started");
    const { port, pid } = server;
    const perSecond = async (): Promise<{ commands: number; cpu: number; redisCpu: number }> => {
      const [commands, cpu, redisCpu] = [await commandsOf(redis), cpuMsOf([pid]), cpuMsOf([redis.pid])];
      await pause(REST_MS);
      return {
        commands: ((await commandsOf(redis)) - commands) / (REST_MS / 1_000),
        cpu: (cpuMsOf([pid]) - cpu) / REST_MS,
        redisCpu: (cpuMsOf([redis.pid]) - redisCpu) / REST_MS,
      };
    };
    const visitors = await makeVisitors(port, IDLE_FEEDS, 1);
    const before = await perSecond();
    const beforeMb = memoryMbOf([pid]);
    const beganAt = performance.now();
    feeds.push(
      ...(await atOnce(IDLE_FEEDS, (nth) => {
        const { token = "", threadIds = [] } = visitors[nth] ?? {};
        const path = `/v1/widget/threads/${threadIds[0]}/events?after=`;
        return openFeed({ port, path, headers: { origin: ORIGIN, "x-visitor-token": token } });
      })),
    );
    const openedMs = performance.now() - beganAt;
    await pause(3_000);
    const after = await perSecond();
    return {
      beforeMb,
      openMb: memoryMbOf([pid]),
      openedMs,
      commands: after.commands,
      commandsBefore: before.commands,
      cpuShare: after.cpu,
      redisCpuShare: after.redisCpu,
    };
  } finally {
    for (const feed of feeds) feed.close();
    await instances.stop();
  }
}

/** Records when each feed received a text. */
function createEars(): { hear: (text: string) => void; heardAt: (nonce: string) => number[] } {
  const heard = new Map<string, number[]>();
  return {
    hear(text) {
      for (const [nonce, times] of heard) if (text.includes(nonce)) times.push(performance.now());
    },
    heardAt(nonce) {
      const times: number[] = [];
      heard.set(nonce, times);
      return times;
    },
  };
}

/** Sends messages to the first server; returns the ms that each took to reach each feed of the last one. */
async function delays(options: { servers: number; threads: number; feedsEach: number; messages: number }) {
  const instances = await startInstances(options.servers);
  const { servers } = instances;
  const feeds: OpenFeed[] = [];
  try {
    const [speaks, reads] = [servers[0], servers.at(-1)];
    if (!speaks || !reads) throw new Error("Cannot measure: no server was started");
    const asking = askServerApi(speaks.port, false, (user) => ({
      userId: "reader",
      threadId: `thread-${user}`,
    }));
    const connection = openConnection(speaks.port);
    const say = (thread: number, nonce: string) => connection.ask(asking.request(thread, 0, textWith(nonce)));
    const ears = createEars();
    for (let thread = 0; thread < options.threads; thread++) {
      await say(thread, newNonce());
      const path = `/v1/threads/thread-${thread}/events?userId=reader&channel=${SLUG}`;
      const headers = { authorization: `Bearer ${TRANSPORT_KEY}` };
      const opened = await atOnce(options.feedsEach, () =>
        openFeed({ port: reads.port, path, headers, onText: ears.hear }),
      );
      feeds.push(...opened);
    }
    const delaysMs: number[] = [];
    for (let nth = 0; nth < options.messages; nth++) {
      const nonce = newNonce();
      const times = ears.heardAt(textWith(nonce));
      const beganAt = performance.now();
      await say(nth % options.threads, nonce);
      for (let waited = 0; times.length < options.feedsEach && waited < 10_000; waited += 5) await pause(5);
      delaysMs.push(...times.map((at) => at - beganAt));
      if (times.length < options.feedsEach) throw new Error("Cannot measure: a feed missed a message");
      await pause(BETWEEN_MS);
    }
    connection.close();
    return delaysMs;
  } finally {
    for (const feed of feeds) feed.close();
    await instances.stop();
  }
}

const rowOfDelays = (name: string, ms: readonly number[]) => [
  name,
  shown(quantile(ms, 0.5)),
  shown(quantile(ms, 0.99)),
  shown(Math.max(...ms)),
];

pin(process.pid, LOAD_CORE);
const model = await startModel();
try {
  await model.pace({ everyMs: 0 });
  const rest = await resting();
  tell(`${CROWD} feeds on one thread`);
  const crowd = await delays({ servers: 1, threads: 1, feedsEach: CROWD, messages: CROWD_MESSAGES });
  tell("feeds of another instance");
  const elsewhere = await delays({ servers: 2, threads: 50, feedsEach: 1, messages: MESSAGES });
  const kbEach = ((rest.openMb - rest.beforeMb) * 1024) / IDLE_FEEDS;
  const feedsMb = rest.openMb - rest.beforeMb;
  print({
    title: "Feeds",
    tables: [
      {
        caption: `${IDLE_FEEDS.toLocaleString("en-US")} feeds of visitors that rest, each of a thread of its own. Memory (RSS) is the server's process; the shares are of one core. Redis counts the commands inside its functions too: to be told of commits is one call of four.`,
        head: [
          "MB before",
          "MB open",
          "kB per feed",
          "s to open all",
          "Redis commands a second before",
          "with feeds",
          "CPU of the service",
          "CPU of Redis",
        ],
        rows: [
          [
            shown(rest.beforeMb),
            shown(rest.openMb),
            shown(kbEach),
            shown(rest.openedMs / 1_000),
            shown(rest.commandsBefore),
            shown(rest.commands),
            `${shown(rest.cpuShare * 100)} %`,
            `${shown(rest.redisCpuShare * 100)} %`,
          ],
        ],
      },
      {
        caption: "From a user's request to the line of the message in a feed, ms; the commit is in it.",
        head: ["who reads", "p50", "p99", "latest"],
        rows: [
          rowOfDelays(`${CROWD.toLocaleString("en-US")} feeds on one thread, on the same instance`, crowd),
          rowOfDelays("a feed on another instance", elsewhere),
        ],
      },
    ],
    targets: [
      {
        says: "10,000 idle feeds cost at most 250 MB",
        measured: `${shown(feedsMb)} MB`,
        met: feedsMb <= 250,
      },
      {
        says: "a message is in the feeds of other instances within 200 ms (p99)",
        measured: `${shown(quantile(elsewhere, 0.99))} ms`,
        met: quantile(elsewhere, 0.99) <= 200,
      },
    ],
  });
} finally {
  model.stop();
}
