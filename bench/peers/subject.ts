import { freePort } from "../../test/support/servers/free-port.ts";
import { startRedis } from "../../test/support/stores/redis-server.ts";
import { askModel, askServerApi } from "../rig/askings.ts";
import { pin, SERVER_CORE } from "../rig/cores.ts";
import type { Asking } from "../rig/load.ts";
import type { BenchModel } from "../rig/model.ts";
import { startServer, temporaryFolder } from "../rig/server.ts";
import { startStack } from "../rig/stack.ts";
import type { StackKind } from "../rig/stack.ts";
import { familyOf } from "../rig/usage.ts";
import { install, nodeOf, SILENCE } from "./install.ts";
import type { Peer } from "./peers.ts";

/** A server under test: the service, a peer, or the model. */
export interface Subject {
  /** All processes of its stack. */
  pids(): number[];
  /** A way to ask it; each has threads of its own. */
  asking(): Asking;
  stop(): Promise<void>;
}

/** The service on Redis, as `npm start` runs it. */
export async function startService(modelUrl: string, listener: StackKind["listener"]): Promise<Subject> {
  const stack = await startStack("service", { listener, store: "redis", modelUrl });
  return {
    pids: () => stack.pids,
    asking: () => askServerApi(stack.port),
    stop: () => stack.stop(),
  };
}

/** The model itself, without a server in between, for comparing first texts. It stops with the run. */
export function modelAlone(model: BenchModel): Subject {
  return { pids: () => [model.pid], asking: () => askModel(model.port), stop: () => Promise.resolve() };
}

/** Starts a peer; installs it first if that was not done yet. */
export async function startPeer(peer: Peer, modelUrl: string): Promise<Subject> {
  const cwd = install(peer);
  const data = temporaryFolder();
  const redis = peer.usesRedis ? await startRedis() : null;
  if (redis) pin(redis.pid, SERVER_CORE);
  const env = {
    ...SILENCE,
    NODE_ENV: "production",
    OPENAI_BASE_URL: modelUrl,
    OPENAI_API_KEY: "none",
    DATA_DIR: data.path,
    // For peers that cannot pick a port.
    PORT: String(await freePort()),
    ...(redis ? { REDIS_URL: redis.url } : {}),
  };
  const node = peer.node === "own" ? nodeOf(cwd) : process.execPath;
  const server = await startServer(["server.mjs"], env, { cwd, node });
  return {
    pids: () => [...familyOf(server.pid), ...(redis ? [redis.pid] : [])],
    asking: () => askPeer(peer, server.port),
    async stop() {
      await server.stop();
      await redis?.stop();
      data.remove();
    },
  };
}

/** Messages in a thread, before another one begins. */
const PER_THREAD = 10;
let runs = 0;

function askPeer(peer: Peer, port: number): Asking {
  const run = runs++;
  return {
    port,
    textOf: (body) => peer.textOf(body),
    request: (user, nth, said) => ({
      isFirst: peer.isFirst,
      bytes: peer.request(port, `t-${run}-${user}-${Math.floor(nth / PER_THREAD)}`, said),
    }),
  };
}
