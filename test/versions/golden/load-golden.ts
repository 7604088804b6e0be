import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { runCommand } from "../../support/terminal.ts";
import { backupOf } from "./golden.ts";
import type { Golden } from "./golden.ts";

/**
 * Restores a version's store into an empty one, and puts the keys that were beside an embedded one into its DATA_DIR. At
 * `atMs` tokens have as much time left as they had then, and threads that wait with `movesDeadlines`. Other times stay.
 */
export async function restoreGolden(
  { version, store, folder, facts }: Golden,
  env: { DATA_DIR: string; REDIS_URL?: string },
  { atMs, movesDeadlines }: { atMs: number; movesDeadlines: boolean },
): Promise<void> {
  mkdirSync(env.DATA_DIR, { recursive: true });
  const keys = join(folder, "keys.json");
  if (existsSync(keys)) copyFileSync(keys, join(env.DATA_DIR, "keys.json"));
  const file = join(env.DATA_DIR, "golden.backup");
  const deadlinesByMs = movesDeadlines ? atMs - facts.takenAtMs : 0;
  writeFileSync(file, moved(readFileSync(backupOf(version, store)), { atMs, deadlinesByMs }));
  const { code, err } = await runCommand(env, ["store", "restore", file]);
  if (code !== 0) throw new Error(`Cannot restore ${folder}: ${err}`);
}

/** The file with these times, and a last line that says so. */
function moved(zipped: Buffer, { atMs, deadlinesByMs }: { atMs: number; deadlinesByMs: number }): Buffer {
  const lines = gunzipSync(zipped).toString().trimEnd().split("\n");
  const { takenAtMs } = JSON.parse(lines[0] ?? "") as { takenAtMs: number };
  const end = JSON.parse(lines.pop() ?? "") as { sha256: string };
  const by = { tokensMs: Math.round(atMs - takenAtMs), deadlinesMs: Math.round(deadlinesByMs) };
  const text = lines.map((line) => `${movedLine(line, by)}\n`).join("");
  end.sha256 = createHash("sha256").update(text).digest("hex");
  return gzipSync(`${text}${JSON.stringify(end)}\n`);
}

interface Timed {
  type: string;
  expiresAtMs: number;
  dueAtMs: number | null;
  /** null: never spoken in. */
  snapshot: string | null;
}

function movedLine(line: string, by: { tokensMs: number; deadlinesMs: number }): string {
  const record = JSON.parse(line) as Timed;
  const { type, expiresAtMs, dueAtMs, snapshot } = record;
  if (type === "token") return JSON.stringify({ ...record, expiresAtMs: expiresAtMs + by.tokensMs });
  if (type !== "thread" || snapshot === null) return line;
  // A run that goes on has a deadline, too, where a call waits for approval: it is in its snapshot alone.
  const moves = snapshot.replaceAll(
    /"deadlineMs":(\d+)/g,
    (_, wasMs: string) => `"deadlineMs":${Number(wasMs) + by.deadlinesMs}`,
  );
  return JSON.stringify({ ...record, dueAtMs: dueAtMs && dueAtMs + by.deadlinesMs, snapshot: moves });
}
