import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { startRedis } from "../test/support/stores/redis-server.ts";
import { systemClock } from "../src/clock.ts";
import { channelThreadView, listChannelThreads } from "../src/operators/threads/channel-threads.ts";
import type { ThreadFilter } from "../src/operators/threads/channel-threads.ts";
import { searchUsers } from "../src/operators/search-users.ts";
import type { UserSearch } from "../src/operators/search-users.ts";
import type { Store } from "../src/store.ts";
import { openEmbeddedStore } from "../src/stores/embedded.ts";
import { openRedisStore } from "../src/stores/redis.ts";
import { SLUG } from "./rig/askings.ts";
import { quantile, shown } from "./rig/numbers.ts";
import { readOptions } from "./rig/options.ts";
import { print, tell } from "./rig/section.ts";
import { temporaryFolder } from "./rig/server.ts";

/**
 * How long does an operator wait for a page of 50, if a channel has a million users with a thread each, or as many as
 * `--threads=` says? Runs only by name: a million takes 4 GB of disk, 4 GB of memory, and minutes. `--threads=10000` tries it
 * in half a minute.
 */
const { threads: THREADS = 1_000_000 } = readOptions(process.argv.slice(2));
const FILL = fileURLToPath(import.meta.resolve("./fill.js"));
const TIMES = 100;
const PAGE = 50;
/** Contract: the first page of a list of a million. */
const MOST_MS = 50;

const EVERYTHING: ThreadFilter = { state: null, userId: null, sinceMs: 0, untilMs: Infinity };
const ANYBODY: UserSearch = { text: "", seesNames: true, blocked: null, anonymous: null };
/** At most one user in a hundred thousand has this in the id. */
const RARE = "0004217";

interface Filled {
  name: string;
  open: () => Promise<Store>;
  fillArgs: string[];
  remove: () => Promise<void>;
}

async function redisGround(): Promise<Filled> {
  const redis = await startRedis({ args: ["--appendonly", "no", "--save", ""] });
  return {
    name: "Redis",
    open: () =>
      openRedisStore({
        urls: [redis.url],
        durability: "local",
        clock: systemClock,
        log: { warn() {} },
        deadlineMs: 60_000,
      }),
    fillArgs: ["redis", redis.url],
    remove: () => redis.stop(),
  };
}

function embeddedGround(): Filled {
  const folder = temporaryFolder();
  return {
    name: "embedded",
    open: () => openEmbeddedStore({ dataDir: folder.path, clock: systemClock }),
    fillArgs: ["embedded", folder.path],
    remove: () => Promise.resolve(folder.remove()),
  };
}

async function fill({ open, fillArgs }: Filled): Promise<void> {
  const store = await open();
  await store.putChannel({
    slug: SLUG,
    kind: "transport",
    publishableKey: null,
    secretKeyHash: null,
    allowedOrigins: [],
    enabled: true,
    accessMode: "open",
    agent: {},
  });
  await store.close();
  const child = spawn(process.execPath, [FILL, ...fillArgs, String(THREADS), "mixed"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`Cannot fill the store: exit code ${code}`);
}

type Asked = [caption: string, ask: (store: Store) => Promise<unknown>];

async function questions(store: Store): Promise<Asked[]> {
  const first = { limit: PAGE, after: null };
  const users = { ...first, order: "newest first" } as const;
  const whole = await listChannelThreads(store, SLUG, first, EVERYTHING);
  const middle = await store.usersPage(SLUG, { limit: 1, after: null, order: "oldest first" });
  const [{ user } = { user: { userId: "", externalId: null } }] = middle.items;
  const page = async (filter: Partial<ThreadFilter>, after: string | null = null) => {
    const found = await listChannelThreads(store, SLUG, { limit: PAGE, after }, { ...EVERYTHING, ...filter });
    return found.items.map((thread) => channelThreadView(thread));
  };
  const search = (text: string, blocked: boolean | null = null) =>
    searchUsers(store, SLUG, users, { ...ANYBODY, text, blocked });
  return [
    ["threads, the first page", () => page({})],
    ["threads, the second page", () => page({}, whole.next)],
    ["threads that wait for their page (1 in 1,000), the first page", () => page({ state: "awaiting" })],
    ["threads that nobody works on, the first page", () => page({ state: "idle" })],
    ["threads in a state that none has, the first page", () => page({ state: "with_person" })],
    ["threads of one user, the first page", () => page({ userId: user.userId })],
    ["one thread", () => store.channelThread(SLUG, whole.items[0]?.uid ?? "")],
    ["users, the first page", () => search("")],
    ["users by an id in full, the first page", () => search(user.externalId ?? "")],
    ["users by a part of an id that all have, the first page", () => search("owner")],
    ["users by a part of an id that hardly anybody has, the first page", () => search(RARE)],
    ["users who are blocked (1 in 10,000), the first page", () => search("", true)],
    [
      "changes of the last minute",
      () => store.changedThreads(SLUG, { sinceMs: Date.now() - 60_000, limit: 1_000 }),
    ],
  ];
}

async function measure(ask: () => Promise<unknown>): Promise<{ p50: number; p99: number }> {
  const times: number[] = [];
  for (let nth = 0; nth < TIMES; nth++) {
    const beganAt = performance.now();
    await ask();
    times.push(performance.now() - beganAt);
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

const rows: string[][] = [];
let slowest = 0;
for (const ground of [embeddedGround(), await redisGround()]) {
  try {
    tell(`  ${ground.name}: filling ${THREADS} threads`);
    const beganAt = performance.now();
    await fill(ground);
    tell(`    filled in ${shown((performance.now() - beganAt) / 1_000)} s`);
    const store = await ground.open();
    for (const [caption, ask] of await questions(store)) {
      const { p50, p99 } = await measure(() => ask(store));
      if (caption.includes("first page")) slowest = Math.max(slowest, p50);
      rows.push([ground.name, caption, shown(p50), shown(p99)]);
      tell(`    ${rows.at(-1)?.join(" | ")}`);
    }
    await store.close();
  } finally {
    await ground.remove();
  }
}
print({
  title: "Lists",
  tables: [
    {
      caption: `Pages of ${PAGE} in a channel of ${THREADS.toLocaleString("en-US")} users, each with a thread of two messages; ${TIMES} times each, one caller.`,
      head: ["store", "what", "p50 ms", "p99 ms"],
      rows,
    },
  ],
  targets: [
    {
      says: `a first page comes within ${MOST_MS} ms (p50)`,
      measured: `${shown(slowest)} ms`,
      met: slowest <= MOST_MS,
    },
  ],
});
