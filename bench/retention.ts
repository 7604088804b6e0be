import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startRedis } from "../test/support/stores/redis-server.ts";
import type { Channel } from "../src/domain/channels/channel.ts";
import { askServerApi, TRANSPORT_KEY } from "./rig/askings.ts";
import { pin, SERVER_CORE } from "./rig/cores.ts";
import { load, pause } from "./rig/load.ts";
import type { Measured } from "./rig/load.ts";
import { startModel } from "./rig/model.ts";
import { quantile, shown } from "./rig/numbers.ts";
import { readOptions } from "./rig/options.ts";
import { trafficOf } from "./rig/redis-traffic.ts";
import { print, tell } from "./rig/section.ts";
import { environment, SERVICE, startServer, temporaryFolder } from "./rig/server.ts";
import { memoryMbOf } from "./rig/usage.ts";

/**
 * Do callers notice the deletion of 10,000 old threads, or as many as `--threads=` says? The same load on the same full
 * store, first without retention and then with it. Runs only by name: a million takes 9 GB and minutes.
 */
const { threads: THREADS = 10_000 } = readOptions(process.argv.slice(2));
const FILL = fileURLToPath(import.meta.resolve("./fill.js"));
const USERS = 8;
const PLAN = { users: USERS, warmMs: 3_000, windowMs: 20_000, spreadMs: 0 };
/** Longer than the measurement, so that none of the callers' own threads becomes due during it. */
const AGE_MS = 60_000;
const DAY_MS = 86_400_000;
const SWEEPS_WITHIN_MS = 120_000;
/** With retention, a caller may wait at most this many times as long as without, at p99. */
const MOST_TIMES = 1.5;

type Kind = "embedded" | "redis";

interface Ground {
  kind: Kind;
  dataDir: string;
  redisUrl: string | null;
  pids: number[];
}

const model = await startModel();

function start({ redisUrl, dataDir }: Ground, retention?: Channel["retention"]) {
  // The comparison is the same with either listener, and this one runs everywhere.
  const env = environment({ listener: "node", redisUrl, dataDir, modelUrl: model.baseUrl });
  const file = env["CHANNELS_FILE"] ?? "";
  const { channels } = JSON.parse(readFileSync(file, "utf8")) as { channels: object[] };
  writeFileSync(file, JSON.stringify({ channels: channels.map((one) => ({ ...one, retention })) }));
  return startServer(SERVICE, env);
}

async function fill({ kind, redisUrl, dataDir }: Ground): Promise<void> {
  tell(`  ${kind}: filling ${THREADS} threads`);
  const child = spawn(process.execPath, [FILL, kind, redisUrl ?? dataDir, String(THREADS)], {
    stdio: "inherit",
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`Cannot fill the store: exit code ${code}`);
}

async function deletedSoFar(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${TRANSPORT_KEY}` };
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text();
  return Number(/^chat_agent_retention_deleted_total\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Commands that Redis has processed so far; none on the embedded store. */
async function commandsSoFar({ redisUrl }: Ground): Promise<number> {
  if (redisUrl === null) return 0;
  return (await trafficOf(redisUrl)).commands;
}

/** The first sweep may leave the channel to the previous process, whose heartbeat is still recent. */
async function untilItSweeps(port: number): Promise<void> {
  const until = performance.now() + SWEEPS_WITHIN_MS;
  while ((await deletedSoFar(port)) === 0) {
    if (performance.now() > until) throw new Error("Cannot measure: nothing is deleted");
    await pause(500);
  }
}

interface Beside extends Measured {
  /** Threads a second. */
  deleted: number;
  memoryMb: number;
  /** Of Redis, a second. */
  commands: number;
}

/** The callers' times, and how many threads are deleted a second meanwhile. */
async function measure(ground: Ground, retention?: Channel["retention"]): Promise<Beside> {
  const server = await start(ground, retention);
  try {
    if (retention) await untilItSweeps(server.port);
    const watched = [server.pid, ...ground.pids];
    const counts = async () => [await deletedSoFar(server.port), await commandsSoFar(ground)] as const;
    const before = await counts();
    const beganAt = performance.now();
    const measured = await load(askServerApi(server.port), { ...PLAN, watched });
    const after = await counts();
    const seconds = (performance.now() - beganAt) / 1_000;
    const [deleted = 0, commands = 0] = after.map((count, nth) => (count - (before[nth] ?? 0)) / seconds);
    return { ...measured, deleted, commands, memoryMb: memoryMbOf(watched) };
  } finally {
    await server.stop();
  }
}

const rows: string[][] = [];
let worst = 0;
for (const kind of ["embedded", "redis"] as const) {
  const folder = temporaryFolder();
  const redis = kind === "redis" ? await startRedis({ args: ["--auto-aof-rewrite-percentage", "0"] }) : null;
  if (redis) pin(redis.pid, SERVER_CORE);
  const ground = { kind, dataDir: folder.path, redisUrl: redis?.url ?? null, pids: redis ? [redis.pid] : [] };
  try {
    // The first start writes the channel that the threads belong to.
    await (await start(ground)).stop();
    await fill(ground);
    const without = await measure(ground);
    await pause(AGE_MS);
    const beside = await measure(ground, { threadsDays: AGE_MS / DAY_MS });
    const p99 = ({ totalMs }: Measured) => quantile(totalMs, 0.99);
    worst = Math.max(worst, p99(beside) / p99(without));
    for (const [caption, { totalMs, perSecond, ...rest }] of [
      ["without", without],
      ["beside it", beside],
    ] as const) {
      const times = [0.5, 0.99].map((share) => shown(quantile(totalMs, share)));
      rows.push([
        kind,
        caption,
        shown(perSecond),
        ...times,
        ...[rest.deleted, rest.memoryMb, rest.commands].map(shown),
      ]);
      tell(`    ${rows.at(-1)?.join(" | ")}`);
    }
  } finally {
    await redis?.stop();
    folder.remove();
  }
}
model.stop();
print({
  title: "Retention",
  tables: [
    {
      caption: `Callers of a channel in which ${THREADS.toLocaleString("en-US")} threads are past their date: ${USERS} in a closed loop, ${PLAN.windowMs / 1_000} s each.`,
      head: [
        "store",
        "retention",
        "messages a second",
        "whole reply, p50 ms",
        "p99 ms",
        "threads deleted a second",
        "memory, MB",
        "Redis commands a second",
      ],
      rows,
    },
  ],
  targets: [
    {
      says: `p99 stays within ${MOST_TIMES} times of what it is without`,
      measured: `${shown(worst)} times`,
      met: worst <= MOST_TIMES,
    },
  ],
});
