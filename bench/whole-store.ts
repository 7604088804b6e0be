import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../src/clock.ts";
import type { Store } from "../src/store.ts";
import { startRedis } from "../test/support/stores/redis-server.ts";
import { openEmbeddedStore } from "../src/stores/embedded.ts";
import { openRedisStore } from "../src/stores/redis.ts";
import { SLUG } from "./rig/askings.ts";
import { pause } from "./rig/load.ts";
import { readOptions } from "./rig/options.ts";
import { print, tell } from "./rig/section.ts";
import type { Table } from "./rig/section.ts";
import { SERVICE, temporaryFolder } from "./rig/server.ts";
import type { StackKind } from "./rig/stack.ts";
import { memoryMbOf, residentMbOf } from "./rig/usage.ts";

/**
 * What do the commands on a whole store cost: `store info`, `check`, `backup`, `restore` into an empty one? On both engines, or
 * those that `--store=` names, with 100,000 threads, or as many as `--threads=` says. A million takes 10 GB of disk, 5 GB of
 * memory and, on a busy machine, an hour for each engine. Not one of the default questions.
 */
const { threads: THREADS = 100_000, stores: STORES } = readOptions(process.argv.slice(2));
const FILL = fileURLToPath(import.meta.resolve("./fill.js"));
const [COMMAND = ""] = SERVICE;
const LOOK_MS = 100;

interface Peak {
  /** Heap and buffers, which must not grow with the store. */
  own: number;
  /** Pages of files: the program, and recently read parts of the store; the system reclaims them when it needs memory. */
  mapped: number;
  all: number;
}

/** A store: how the fill is told of it, and commands are. */
interface Ground {
  place: string;
  env: Record<string, string>;
  /** What it takes: of its file, or of the server's memory. */
  sizeMb(): number;
  open(): Promise<Pick<Store, "putChannel" | "close">>;
  remove(): Promise<void>;
}

function embedded(dataDir: string): Ground {
  return {
    place: dataDir,
    env: { DATA_DIR: dataDir },
    sizeMb: () => mbOf(join(dataDir, "store", "data.mdb")),
    open: () => openEmbeddedStore({ dataDir, clock: systemClock }),
    remove: async () => {},
  };
}

/** `dataDir`: of the commands' keys. */
async function redis(dataDir: string): Promise<Ground> {
  const server = await startRedis();
  const { url, pid } = server;
  const log = { warn() {} };
  return {
    place: url,
    env: { DATA_DIR: dataDir, REDIS_URL: url },
    sizeMb: () => Math.round(memoryMbOf([pid])),
    open: () => openRedisStore({ urls: [url], durability: "local", clock: systemClock, log }),
    remove: () => server.stop(),
  };
}

function mbOf(path: string): number {
  return Math.round(statSync(path).size / 1_000_000);
}

async function run(args: string[], told: Record<string, string>): Promise<{ seconds: number; peak: Peak }> {
  tell(`  ${args.slice(1).join(" ")}`);
  const beganAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], ...told },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const peak: Peak = { own: 0, mapped: 0, all: 0 };
  const exit = once(child, "exit") as Promise<[number | null]>;
  while (child.exitCode === null && child.signalCode === null) {
    const now = residentMbOf(child.pid ?? 0);
    peak.own = Math.max(peak.own, now.own);
    peak.mapped = Math.max(peak.mapped, now.mapped);
    peak.all = Math.max(peak.all, now.own + now.mapped);
    await pause(LOOK_MS);
  }
  const [code] = await exit;
  if (code !== 0) throw new Error(`Cannot ${args.join(" ")}: exit code ${code}`);
  return { seconds: (performance.now() - beganAt) / 1_000, peak };
}

async function measured(kind: StackKind["store"]): Promise<Table> {
  const folder = temporaryFolder();
  const groundAt = (name: string) => {
    const path = join(folder.path, name);
    return kind === "redis" ? redis(path) : embedded(path);
  };
  const [full, empty] = [await groundAt("full"), await groundAt("empty")];
  try {
    const backup = join(folder.path, "chats.backup");
    const store = await full.open();
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
    tell(`Filling ${THREADS} threads`);
    await run([FILL, kind, full.place, String(THREADS)], full.env);

    const commands: [caption: string, args: string[], ground: Ground][] = [
      ["`store info`", ["info"], full],
      ["`store check`", ["check"], full],
      ["`store backup`", ["backup", backup], full],
      ["`store restore`", ["restore", backup], empty],
      ["`store check` of what was restored", ["check"], empty],
    ];
    const rows: string[][] = [];
    for (const [caption, args, { env }] of commands) {
      const { seconds, peak } = await run([COMMAND, "store", ...args], env);
      const mb = [peak.all, peak.own, peak.mapped].map((number) => String(Math.round(number)));
      rows.push([caption, seconds.toFixed(1), ...mb]);
      tell(`    ${rows.at(-1)?.join(" | ")}`);
    }
    return {
      caption: `${THREADS.toLocaleString("en-US")} users, each with a thread of two messages, in ${WHERE[kind]}: ${full.sizeMb()} MB, ${mbOf(backup)} MB as a backup, ${empty.sizeMb()} MB restored. Peaks of the command's memory, looked at every ${LOOK_MS} ms.`,
      head: ["command", "s", "RSS MB", "of it its own (heap, buffers) MB", "of it mapped files MB"],
      rows,
    };
  } finally {
    await Promise.all([full.remove(), empty.remove()]);
    folder.remove();
  }
}

const WHERE = { embedded: "the embedded store", redis: "Redis" };

const tables: Table[] = [];
for (const kind of STORES.length > 0 ? STORES : (["embedded", "redis"] as const)) {
  tables.push(await measured(kind));
}
print({ title: "A whole store", tables, targets: [] });
