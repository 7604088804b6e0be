import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** As in package.json's engines. */
const OLDEST_NODE = [20, 19] as const;
/** A build replaces its files within milliseconds; one that takes this long has stopped, and is not merely slow. */
const REPLACED_WITHIN_MS = 10_000;

/** The folder that src/build.mjs writes; null if run from the sources, which need no build. */
const BUILT = import.meta.url.endsWith(".ts") ? null : fileURLToPath(new URL("../../", import.meta.url));

/** Why this command cannot run here, and what to do; null if it can. This file imports nothing that could fail earlier. */
export async function whyNotRunnable(
  options: { node?: string; built?: string | null; withinMs?: number } = {},
): Promise<string | null> {
  const { node = process.versions.node, built = BUILT, withinMs = REPLACED_WITHIN_MS } = options;
  if (isTooOld(node)) {
    return `this is Node ${node}, and it takes Node ${OLDEST_NODE.join(".")} or newer (https://nodejs.org)`;
  }
  if (built === null) return null;
  return (await isWhole(built, withinMs)) ? null : whatIsHalf(built);
}

function whatIsHalf(built: string): string {
  const missing = filesOf(built)?.find((file) => !existsSync(join(built, file)));
  const more = missing === undefined ? "" : `, ${missing} is missing`;
  return `${built} holds half a build${more}; npm run build makes it whole`;
}

function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
}

async function isWhole(built: string, withinMs: number): Promise<boolean> {
  const replacing = join(built, "replacing.json");
  for (let waitedMs = 0; existsSync(replacing) && isAtWork(replacing); waitedMs += 20) {
    if (waitedMs >= withinMs) return false;
    await sleep(20);
  }
  const files = filesOf(built);
  return !existsSync(replacing) && files !== null && files.every((file) => existsSync(join(built, file)));
}

/** Is the process that replaces the build's files alive? */
function isAtWork(replacing: string): boolean {
  try {
    // A cast: build-in-place.mjs wrote it; anything else makes this throw.
    const { pid } = JSON.parse(readFileSync(replacing, "utf8")) as { pid: number };
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process is alive, and another user's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** The files that the build lists, without source maps; null if the build was not finished. */
function filesOf(built: string): string[] | null {
  try {
    // A cast: build.mjs wrote it; anything else makes this throw.
    const { files } = JSON.parse(readFileSync(join(built, "build.json"), "utf8")) as { files: string[] };
    return files.filter((file) => !file.endsWith(".map"));
  } catch {
    return null;
  }
}
