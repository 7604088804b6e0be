import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { bearerFrom, keyCheck } from "../admission/keys.ts";
import { systemClock } from "../clock.ts";
import { newKey } from "../keys.ts";
import type { Handler, HttpAnswer } from "../listener.ts";
import { warnOfFault } from "../listeners/handling.ts";
import { serve } from "../listeners/node/serve.ts";
import { Secret } from "../secret.ts";
import { lockDataDir } from "../stores/engines/lmdb/data-dir-lock.ts";
import { openLmdbEngine } from "../stores/engines/lmdb/engine.ts";
import { lend } from "../stores/engines/lmdb/lent.ts";

/**
 * Where the command line asks the service that has the embedded store: at the lock of DATA_DIR, with a key in a file there
 * (mode 0600) that lasts as long as the service. Whoever can read the file could read the store as well.
 */
export interface LocalDoor {
  /** Answers from now on; what was asked before waits. */
  open(operators: Handler): void;
  /** Answers no more: what is asked waits for the end. Resolves when what was begun is answered, or a second has passed. */
  shut(): Promise<void>;
  /** Lets go of the lock. */
  release(): Promise<void>;
}

/** Calls of the engine: their bodies are v8's. */
export const ENGINE_PATH = "/engine";

const LONGEST_BODY = 2 ** 28;
const LAST_ANSWERS_MS = 1_000;

/** The key's file. */
export function localKeyFile(dataDir: string): string {
  return join(dataDir, "command-line.key");
}

/** The key by which the command line asks the service. Throws if it cannot be read. */
export function readLocalKey(dataDir: string): string {
  return readFileSync(localKeyFile(dataDir), "utf8").trim();
}

/** Locks DATA_DIR. Throws if another process has it. */
export async function openLocalDoor(dataDir: string): Promise<LocalDoor> {
  const key = new Secret(newKey("cl_"));
  const isKey = keyCheck(key);
  const begun = new Set<Promise<unknown>>();
  let lent: ReturnType<typeof lendEngine> | null = null;
  let isShut = false;
  let open!: (operators: Handler) => void;
  const opened = new Promise<Handler>((resolve) => (open = resolve));

  async function callEngine(call: Uint8Array): Promise<HttpAnswer> {
    const { answer } = await (lent ??= lendEngine(dataDir));
    return { status: 200, headers: {}, body: await answer(call) };
  }

  const handler: Handler = async (request) => {
    if (request.path === "/") return { status: 204, headers: {} };
    if (!isKey(bearerFrom(request.headers.get("authorization")) ?? "")) return { status: 401, headers: {} };
    const operators = await opened;
    if (isShut) await new Promise(() => {});
    const answering =
      request.path === ENGINE_PATH ? request.body(LONGEST_BODY).then(callEngine) : operators(request);
    begun.add(answering);
    return answering.finally(() => begun.delete(answering));
  };
  const serving = { handler, onFault: warnOfFault, full: false, leaving: () => false };
  // A command may be busy for minutes between two requests.
  const server = createServer(
    { keepAliveTimeout: 0 },
    (request, response) => void serve(serving, request, response),
  );
  const release = await lockDataDir(dataDir, undefined, server);
  writeKey(dataDir, key);

  return {
    open,
    async shut() {
      isShut = true;
      const late = new Promise((resolve) => setTimeout(resolve, LAST_ANSWERS_MS).unref());
      await Promise.race([Promise.allSettled(begun), late]);
      await lent?.then(({ engine }) => engine.close());
    },
    async release() {
      rmSync(localKeyFile(dataDir), { force: true });
      await release();
    },
  };
}

/** A use of its own of the file that the service has open. */
async function lendEngine(dataDir: string) {
  const engine = await openLmdbEngine({ dataDir, clock: systemClock });
  return { engine, answer: lend(engine) };
}

/** Written to a draft and renamed: it has its mode and its content at once. */
function writeKey(dataDir: string, key: Secret): void {
  const draft = `${localKeyFile(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${key.reveal()}\n`, { mode: 0o600 });
  renameSync(draft, localKeyFile(dataDir));
}
