import { startRedis } from "../../test/support/stores/redis-server.ts";
import { pin, SERVER_CORE } from "./cores.ts";
import { environment, FLOOR, SERVICE, serviceIn, startServer, temporaryFolder } from "./server.ts";
import type { BenchServer } from "./server.ts";
import { familyOf } from "./usage.ts";

/** A server and its store. */
export interface Stack {
  port: number;
  server: BenchServer;
  /** All processes of the stack. */
  pids: number[];
  /** null: on the embedded store. */
  redis: { url: string; pid: number } | null;
  stop(): Promise<void>;
}

export interface StackKind {
  listener: "uws" | "node";
  store: "redis" | "embedded";
}

/** Starts the service or the floor, with its own Redis or folder. `checkout`: another version of the service, built. */
export async function startStack(
  what: "service" | "floor",
  kind: StackKind & { modelUrl: string; settings?: NodeJS.ProcessEnv; checkout?: string },
): Promise<Stack> {
  const folder = temporaryFolder();
  // As in a usual installation: append-only, flushed once a second.
  const redis = kind.store === "redis" ? await startRedis() : null;
  if (redis) pin(redis.pid, SERVER_CORE);
  const service = kind.checkout === undefined ? SERVICE : serviceIn(kind.checkout);
  const removeGround = async () => {
    await redis?.stop();
    folder.remove();
  };
  const server = await startServer(what === "service" ? service : FLOOR, {
    ...environment({ ...kind, redisUrl: redis?.url ?? null, dataDir: folder.path }),
    ...kind.settings,
  }).catch(async (error: unknown) => {
    await removeGround();
    throw error;
  });
  return {
    port: server.port,
    server,
    pids: [...familyOf(server.pid), ...(redis ? [redis.pid] : [])],
    redis,
    async stop() {
      await server.stop();
      await removeGround();
    },
  };
}
