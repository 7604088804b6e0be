import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { codeOf, messageOf } from "../errors.ts";
import { Secret } from "../secret.ts";
import { newChannelKeys, newKey, newOperatorKey } from "../keys.ts";
import type { ChannelKeys } from "../keys.ts";
import { makeDataDir } from "../stores/engines/lmdb/data-dir.ts";

/**
 * Keys that a start without configured ones generates: DATA_DIR/keys.json, mode 0600, so that the next start and the
 * command line have them too.
 */
export interface GeneratedKeys {
  /** The transport key. */
  harnessApiKey: Secret;
  demo: ChannelKeys;
  /** The key of the operator `local`; absent in a file of an earlier version, until a start creates it. */
  localOperator?: Secret;
}

const schema = z.object({
  harnessApiKey: z.string().min(1),
  localOperator: z.string().startsWith("op_").optional(),
  demo: z.object({ publishableKey: z.string().startsWith("pk_"), secretKey: z.string().startsWith("sk_") }),
});

/** The keys of a data folder; generates and saves them if there are none yet. */
export function openKeysFile(dataDir: string): GeneratedKeys {
  const known = readKeysFile(dataDir);
  if (known !== null) return known;

  const keys: GeneratedKeys = { harnessApiKey: new Secret(newKey("tk_")), demo: newChannelKeys() };
  writeKeysFile(dataDir, keys);
  return keys;
}

/** The keys of a data folder, with the operator `local`'s, which is created if missing. */
export function withLocalOperator(dataDir: string): GeneratedKeys & { localOperator: Secret } {
  const keys = openKeysFile(dataDir);
  const { localOperator } = keys;
  if (localOperator !== undefined) return { ...keys, localOperator };
  const completed = { ...keys, localOperator: newOperatorKey() };
  writeKeysFile(dataDir, completed);
  return completed;
}

/** Saves the keys for the next start. */
export function writeKeysFile(dataDir: string, keys: GeneratedKeys): void {
  const path = keysFileOf(dataDir);
  makeDataDir(dataDir);
  const text = JSON.stringify(
    {
      harnessApiKey: keys.harnessApiKey.reveal(),
      localOperator: keys.localOperator?.reveal(),
      demo: { publishableKey: keys.demo.publishableKey, secretKey: keys.demo.secretKey.reveal() },
    },
    null,
    2,
  );
  // Written to a draft and renamed: a start that dies here leaves no partial file.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${text}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/** null if the folder has no keys file. Throws if the file is not a keys file. */
export function readKeysFile(dataDir: string): GeneratedKeys | null {
  const path = keysFileOf(dataDir);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw new Error(`Cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
  chmodSync(path, 0o600);
  const parsed = schema.safeParse(parseJson(text));
  // The parser's own message is not passed on: it quotes the text.
  if (!parsed.success)
    throw new Error(`Cannot read ${path}: it is no keys file; delete it to have new keys made`);
  const { harnessApiKey, demo, localOperator } = parsed.data;
  return {
    harnessApiKey: new Secret(harnessApiKey),
    ...(localOperator === undefined ? {} : { localOperator: new Secret(localOperator) }),
    demo: { publishableKey: demo.publishableKey, secretKey: new Secret(demo.secretKey) },
  };
}

export function keysFileOf(dataDir: string): string {
  return join(dataDir, "keys.json");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
