import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { systemClock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { messageOf } from "../../errors.ts";
import { ENGINE_PATH, localKeyFile, readLocalKey } from "../../installation/local-door.ts";
import { StoreUnavailable } from "../../store.ts";
import type { Engine } from "../../stores/engine.ts";
import { lockAddress, lockBriefly } from "../../stores/engines/lmdb/data-dir-lock.ts";
import { borrowed } from "../../stores/engines/lmdb/lent.ts";
import type { Ask } from "./ask.ts";
import { CannotDo } from "./terminal.ts";

/** The service that has the embedded store of DATA_DIR, as commands ask it. */
export interface LocalService {
  ask: Ask;
  engine: Engine;
}

/** `service` is null if nobody has the store; then nobody gets it before `leave`. On Redis anybody may work on it. */
export async function reachStore({
  redisUrls,
  dataDir,
}: Config): Promise<{ service: LocalService | null; leave: () => Promise<void> }> {
  if (redisUrls.length > 0) return { service: null, leave: async () => {} };
  const release = await lockBriefly(dataDir);
  if (release !== null) return { service: null, leave: release };
  const agent = new Agent({ keepAlive: true });
  return { service: serviceAt(dataDir, agent), leave: async () => agent.destroy() };
}

function serviceAt(dataDir: string, agent: Agent): LocalService {
  const socketPath = lockAddress(dataDir);
  let key: string | undefined;

  async function send(method: string, path: string, body: Uint8Array): Promise<IncomingMessage> {
    key ??= keyOf(dataDir);
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": body.length,
    };
    return new Promise((resolve, reject) => {
      const sent = request({ agent, socketPath, method, path, headers }, (answer) => {
        if (answer.statusCode !== 401) return resolve(answer);
        answer.resume();
        reject(
          new CannotDo(
            `Cannot ask the service in ${dataDir}: the key in ${localKeyFile(dataDir)} is not its own`,
          ),
        );
      });
      sent.once("error", reject);
      sent.end(body);
    });
  }

  return {
    async ask({ method, path, query, body }) {
      const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
      const answer = await send(method, query === "" ? path : `${path}?${query}`, bytes).catch(gone);
      return { status: answer.statusCode ?? 0, body: answer };
    },
    engine: borrowed(
      async (call) => {
        try {
          return await buffer(await send("POST", ENGINE_PATH, call));
        } catch (cause) {
          if (cause instanceof CannotDo) throw cause;
          throw new StoreUnavailable("use the store of the service", { cause });
        }
      },
      () => systemClock.now(),
    ),
  };

  function gone(error: unknown): never {
    if (error instanceof CannotDo) throw error;
    throw new CannotDo(`Cannot ask the service in ${dataDir}: ${messageOf(error)}`, { cause: error });
  }
}

function keyOf(dataDir: string): string {
  try {
    return readLocalKey(dataDir);
  } catch (cause) {
    throw new CannotDo(`Cannot ask the service in ${dataDir}: ${messageOf(cause)}`, { cause });
  }
}
