import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { backupOf, goldenFolder, STORES } from "./golden.ts";
import type { Facts, Golden } from "./golden.ts";
import { writeJson, writeLines } from "../fleet/readable.ts";
import { HERE } from "../fleet/service-process.ts";
import { checkStates } from "../writing/check-states.ts";
import { liveThreeLives } from "../writing/lives.ts";
import { openOldCheckout } from "../writing/old-checkout.ts";
import type { OldCheckout } from "../writing/old-checkout.ts";
import { openOldService } from "../writing/old-service.ts";
import { identified, showEverything } from "../writing/show.ts";
import { CHANNEL_KEYS, NEXT, ORIGIN } from "../writing/world.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `npx tsx test/versions/golden/write-golden.ts COMMIT`: golden backups of a commit, from both stores. */
async function writeGolden(revision: string): Promise<void> {
  // The tests go on on the same day, and wait past every deadline until the next one.
  if (DAY_MS - (Date.now() % DAY_MS) < HOUR_MS)
    throw new Error("Cannot write records within a day's last hour, UTC");
  const old = openOldCheckout(revision);
  try {
    for (const store of STORES) await writeStore(old, store);
  } finally {
    old.remove();
  }
  execFileSync("npx", ["oxfmt", join("test/versions", old.version)], {
    cwd: HERE,
    stdio: "inherit",
  });
}

async function writeStore(old: OldCheckout, store: Golden["store"]): Promise<void> {
  const service = await openOldService(old.folder, store);
  const { world, dataDir, redisUrl } = service;
  try {
    await liveThreeLives(service);
    const takenAtMs = Date.now();
    const shown = await showEverything(world.cli);
    const { tokens } = world;
    const facts: Facts = {
      note: "Test data: tokens and keys of a service that never was. See test/versions/README.md",
      version: old.version,
      commit: old.commit,
      takenAtMs,
      next: NEXT,
      origin: ORIGIN,
      transportKey: world.backend.transportKey,
      channels: CHANNEL_KEYS,
      tokens,
      threads: world.threads.map((thread) => identified(thread, { shown, tokens })),
      operators: world.operators,
    };

    const folder = goldenFolder(old.version, store);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const backup = backupOf(old.version, store);
    rmSync(backup, { force: true });
    await world.cli("store", "backup", backup);
    checkStates(gunzipSync(readFileSync(backup)).toString().split("\n"));
    writeJson(join(folder, "facts.json"), facts);
    writeLines(join(folder, "shown.jsonl"), shown);
    if (redisUrl === null) copyFileSync(join(dataDir, "keys.json"), join(folder, "keys.json"));
  } finally {
    await service.remove();
  }
}

const [revision] = process.argv.slice(2);
if (revision === undefined) throw new Error("Give the commit whose records shall be written");
await writeGolden(revision);
// Streams of killed processes may be open still.
process.exit(0);
