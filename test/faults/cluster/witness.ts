import { createClient } from "redis";
import { setTimeout as pause } from "node:timers/promises";
import type { ReplicatedCluster } from "../../support/stores/replicated-cluster.ts";
import type { Durability } from "./cluster-fleet.ts";

/**
 * Somebody who knows nothing of the service, and writes one key to every node again and again, by the way that callers
 * go: whether the cluster itself serves, and since when. With DURABILITY=replica it serves when a replica has the key.
 */
export interface Witness {
  /** The longest time in which the cluster did not serve, and when it did again; null: it always did. */
  stop(): Promise<Away | null>;
}

export interface Away {
  awayMs: number;
  backAtMs: number;
}

const EVERY_MS = 50;
/** Shorter silence may be this process's own. */
const AWAY_MS = 400;
const REPLICA_MS = "100";

export function startWitness(
  { nodes }: Pick<ReplicatedCluster, "nodes">,
  options: { key: string; durability: Durability },
): Witness {
  const { key, durability } = options;
  const servedAtMs = [performance.now()];
  let stopped = false;

  async function write(client: Client): Promise<boolean> {
    const [written, copies] = await Promise.all([
      client.sendCommand<string>(["SET", key, "written", "PX", "60000"]),
      durability === "replica" ? client.sendCommand(["WAIT", "1", REPLICA_MS]) : 1,
    ]);
    return written === "OK" && Number(copies) > 0;
  }

  async function ask(url: string): Promise<void> {
    const client = clientOf(url);
    client.on("error", () => {});
    client.connect().catch(() => {});
    while (!stopped) {
      // Whoever hangs is waited for, and hinders none of the others.
      if (await Promise.race([write(client).catch(() => false), ended])) servedAtMs.push(performance.now());
      await pause(EVERY_MS);
    }
    client.destroy();
  }

  let end = () => {};
  const ended = new Promise<false>((resolve) => (end = () => resolve(false)));
  const asking = Promise.all(
    nodes.map(({ clients, url }) => ask(clients ? `redis://${clients.host}:${clients.port}` : url)),
  );

  return {
    async stop() {
      stopped = true;
      end();
      await asking;
      return longestAway([...servedAtMs, performance.now()]);
    },
  };
}

/** Of the moments in which somebody was served: the longest time between two of them, unless it is short. */
export function longestAway(servedAtMs: readonly number[]): Away | null {
  const sorted = servedAtMs.toSorted((a, b) => a - b);
  const aways = sorted.map((backAtMs, i) => ({ backAtMs, awayMs: backAtMs - (sorted[i - 1] ?? backAtMs) }));
  const [longest] = aways.toSorted((a, b) => b.awayMs - a.awayMs);
  return longest && longest.awayMs > AWAY_MS ? longest : null;
}

function clientOf(url: string) {
  return createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    commandOptions: { timeout: 0 },
    socket: { reconnectStrategy: EVERY_MS },
  });
}

type Client = ReturnType<typeof clientOf>;
