import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { backupOf, goldenFolder, STORES } from "./golden.ts";
import type { Facts, Golden, GoldenPart } from "./golden.ts";
import { writeJson, writeLines } from "../fleet/readable.ts";
import { HERE } from "../fleet/service-process.ts";
import { checkStates } from "../writing/check-states.ts";
import { live } from "../writing/lives.ts";
import { openOldCheckout } from "../writing/old-checkout.ts";
import type { OldCheckout } from "../writing/old-checkout.ts";
import { openOldService } from "../writing/old-service.ts";
import { identified, showEverything } from "../writing/show.ts";
import { CHANNEL_KEYS, ORIGIN } from "../writing/world.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** `npx tsx test/versions/golden/write-golden.ts COMMIT [hand-off]`: golden backups of a commit, from both stores. */
async function writeGolden(revision: string, part: GoldenPart): Promise<void> {
  // The tests go on on the same day, and wait past every deadline until the next one.
  if (DAY_MS - (Date.now() % DAY_MS) < HOUR_MS)
    throw new Error("Cannot write records within a day's last hour, UTC");
  const old = openOldCheckout(revision);
  try {
    for (const store of STORES) await writeStore(old, { store, part });
  } finally {
    old.remove();
  }
  execFileSync("npx", ["oxfmt", join("test/versions", folderName(old, part))], {
    cwd: HERE,
    stdio: "inherit",
  });
}

/** Whole records are those of a release; a part is written before it. */
function folderName({ version }: OldCheckout, part: GoldenPart): string {
  return part === "all" ? version : `${version.split("-")[0] ?? version}-${part}`;
}

async function writeStore(
  old: OldCheckout,
  { store, part }: { store: Golden["store"]; part: GoldenPart },
): Promise<void> {
  const service = await openOldService(old.folder, store);
  const { world, dataDir, redisUrl } = service;
  try {
    await live(service, part);
    const takenAtMs = Date.now();
    const shown = await showEverything(world.cli);
    const { tokens } = world;
    const facts: Facts = {
      note: "Test data: tokens and keys of a service that never was. See test/versions/README.md",
      version: old.version,
      commit: old.commit,
      takenAtMs,
      next: "And now?",
      origin: ORIGIN,
      transportKey: world.backend.transportKey,
      channels: CHANNEL_KEYS,
      tokens,
      threads: world.threads.map((thread) => identified(thread, { shown, tokens })),
      operators: world.operators,
    };

    const name = folderName(old, part);
    const folder = goldenFolder(name, store);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const backup = backupOf(name, store);
    rmSync(backup, { force: true });
    await world.cli("store", "backup", backup);
    checkStates(gunzipSync(readFileSync(backup)).toString().split("\n"), part);
    writeJson(join(folder, "facts.json"), facts);
    writeLines(join(folder, "shown.jsonl"), shown);
    if (redisUrl === null) copyFileSync(join(dataDir, "keys.json"), join(folder, "keys.json"));
  } finally {
    await service.remove();
  }
}

const [revision, part = "all"] = process.argv.slice(2);
if (revision === undefined) throw new Error("Give the commit whose records shall be written");
if (part !== "all" && part !== "hand-off") throw new Error(`Cannot write the part ${part}: there is none`);
await writeGolden(revision, part);
// Streams of killed processes may be open still.
process.exit(0);
