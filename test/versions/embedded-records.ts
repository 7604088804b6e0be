import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { open } from "lmdb";

/**
 * The embedded store's file. It is kept as lmdb wrote it, compacted and zipped: so the format of the file is tested, too.
 * The list of its records is for people, and for the check that the file still holds them.
 */
export interface EmbeddedRecord {
  key: (string | number)[];
  value: unknown;
}

/** Every record, in the order of the keys. */
export async function readEmbedded(dataDir: string): Promise<EmbeddedRecord[]> {
  const db = openTexts(dataDir);
  try {
    return [...db.getRange()].map(({ key, value: text }) => {
      const value: unknown = JSON.parse(text);
      if (JSON.stringify(value) !== text)
        throw new Error(`Cannot show ${key.join(" ")} as it is kept: ${text}`);
      return { key, value };
    });
  } finally {
    await db.close();
  }
}

/** The store's file, zipped. */
export async function packEmbedded(dataDir: string): Promise<Buffer> {
  const copy = mkdtempSync(join(tmpdir(), "chat-agent-golden-"));
  const db = openTexts(dataDir);
  try {
    await db.backup(copy, true);
    return gzipSync(readFileSync(join(copy, "data.mdb")), { level: 9 });
  } finally {
    await db.close();
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Into a folder without a store. Tokens that were valid at `takenAtMs` have as much time left now as they had then. */
export async function unpackEmbedded(zipped: Buffer, dataDir: string, takenAtMs: number): Promise<void> {
  const folder = join(dataDir, "store");
  if (existsSync(folder)) throw new Error(`Cannot load the records: ${dataDir} has a store`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "data.mdb");
  writeFileSync(file, gunzipSync(zipped));
  chmodSync(file, 0o600);

  const db = openTexts(dataDir);
  try {
    const passedMs = Date.now() - takenAtMs;
    const expiries = [...db.getRange({ start: ["e"], end: ["f"] })];
    await db.transaction(() => {
      for (const { key, value } of expiries) {
        if (Number(value) > takenAtMs) void db.put(key, String(Number(value) + passedMs));
      }
    });
    await db.flushed;
  } finally {
    await db.close();
  }
}

function openTexts(dataDir: string) {
  return open<string, (string | number)[]>({ path: join(dataDir, "store"), encoding: "string" });
}
