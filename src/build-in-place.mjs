// How a finished build takes the place of the last one, under a service that may be running from it.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesBelow } from "./build-sources.mjs";

/** Written last: of what dist/ was built, and its files. */
const RECORD = "build.json";
/** There while files are being replaced, with the process that does it: src/cli/runnable.ts waits for it, or tells. */
const REPLACING = "replacing.json";

/** `fresh`; `stale`: whole, of other sources; `half`: not to be run; `none`. */
export function stateOf(dist, sources) {
  if (!existsSync(dist)) return { state: "none", why: "the service is not built" };
  const record = readRecord(dist);
  const half = existsSync(join(dist, REPLACING)) || record === null;
  if (half) return { state: "half", why: "dist/ holds half a build" };
  const missing = record.files.find((file) => !existsSync(join(dist, file)));
  if (missing !== undefined) return { state: "half", why: `dist/ holds half a build: ${missing} is missing` };
  return { state: record.sources === sources ? "fresh" : "stale", why: null };
}

/** A folder beside dist/ for a build to write into. Removes what builds that died have left. */
export function unfinishedFolder(dist) {
  const parent = dirname(dist);
  for (const name of readdirSync(parent)) {
    const pid = Number(/^\.dist-(\d+)$/.exec(name)?.[1] ?? process.pid);
    if (pid !== process.pid && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true });
  }
  const folder = join(parent, `.dist-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Moves every file that changed to its place, one rename each; files of the last build that are no more go at the end. */
export function putInPlace(out, dist, sources) {
  const files = filesBelow(out, "").map((file) => file.slice(1));
  const before = existsSync(dist) ? filesBelow(dist, "").map((file) => file.slice(1)) : [];
  mkdirSync(dist, { recursive: true });
  place(REPLACING, { pid: process.pid });
  for (const file of files) {
    if (isSame(join(out, file), join(dist, file))) continue;
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    renameSync(join(out, file), join(dist, file));
  }
  const kept = new Set([...files, RECORD, REPLACING]);
  for (const file of before) if (!kept.has(file)) rmSync(join(dist, file), { force: true });
  place(RECORD, { sources, files });
  rmSync(join(dist, REPLACING), { force: true });

  function place(name, value) {
    writeFileSync(join(out, name), `${JSON.stringify(value)}\n`);
    renameSync(join(out, name), join(dist, name));
  }
}

function isSame(one, other) {
  return existsSync(other) && readFileSync(one).equals(readFileSync(other));
}

function readRecord(dist) {
  try {
    const { sources, files } = JSON.parse(readFileSync(join(dist, RECORD), "utf8"));
    return typeof sources === "string" && Array.isArray(files) ? { sources, files } : null;
  } catch {
    return null;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}
