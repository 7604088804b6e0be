import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../src/clock.ts";
import { openEmbeddedStore } from "../src/stores/embedded.ts";
import { SLUG } from "./rig/askings.ts";
import { pause } from "./rig/load.ts";
import { readOptions } from "./rig/options.ts";
import { print, tell } from "./rig/section.ts";
import { SERVICE, temporaryFolder } from "./rig/server.ts";
import { residentMbOf } from "./rig/usage.ts";

/**
 * What do the commands on a whole embedded store cost: `store info`, `check`, `backup`, `restore` into an empty one? With
 * 100,000 threads, or as many as `--threads=` says. A million takes 10 GB of disk and, on a busy machine, an hour. Not one
 * of the default questions.
 */
const { threads: THREADS = 100_000 } = readOptions(process.argv.slice(2));
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

async function run(args: string[], dataDir: string): Promise<{ seconds: number; peak: Peak }> {
  tell(`  ${args.slice(1).join(" ")}`);
  const beganAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env["PATH"], DATA_DIR: dataDir },
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

const folder = temporaryFolder();
try {
  const [full, empty] = [join(folder.path, "full"), join(folder.path, "empty")];
  const backup = join(folder.path, "chats.backup");
  const store = await openEmbeddedStore({ dataDir: full, clock: systemClock });
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
  await run([FILL, "embedded", full, String(THREADS)], full);

  const commands: [caption: string, args: string[], dataDir: string][] = [
    ["`store info`", ["info"], full],
    ["`store check`", ["check"], full],
    ["`store backup`", ["backup", backup], full],
    ["`store restore`", ["restore", backup], empty],
    ["`store check` of what was restored", ["check"], empty],
  ];
  const rows: string[][] = [];
  for (const [caption, args, dataDir] of commands) {
    const { seconds, peak } = await run([COMMAND, "store", ...args], dataDir);
    const mb = [peak.all, peak.own, peak.mapped].map((number) => String(Math.round(number)));
    rows.push([caption, seconds.toFixed(1), ...mb]);
    tell(`    ${rows.at(-1)?.join(" | ")}`);
  }
  const sizes = [join(full, "store", "data.mdb"), backup, join(empty, "store", "data.mdb")].map((file) =>
    Math.round(statSync(file).size / 1_000_000),
  );
  const [storeMb, backupMb, restoredMb] = sizes;
  print({
    title: "A whole store",
    tables: [
      {
        caption: `${THREADS.toLocaleString("en-US")} users, each with a thread of two messages, in the embedded store: ${storeMb} MB, ${backupMb} MB as a backup, ${restoredMb} MB restored. Peaks of memory, looked at every ${LOOK_MS} ms.`,
        head: ["command", "s", "RSS MB", "of it its own (heap, buffers) MB", "of it mapped files MB"],
        rows,
      },
    ],
    targets: [],
  });
} finally {
  folder.remove();
}
