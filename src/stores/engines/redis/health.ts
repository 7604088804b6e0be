import type { StoreHealth } from "../../../store.ts";
import { createDeadline } from "../../deadline.ts";
import type { RedisLink, Shard } from "./link.ts";
import type { Server } from "./server.ts";
import { listOf, textOf, textOrNull } from "./answers.ts";
import type { Send } from "./calls.ts";
import { traceCall } from "./library.ts";

/**
 * Checks that the servers accept writes and keep the service's promises. A read shows neither: a replica, a full
 * server and one that lacks its replicas all answer reads. Settings are read if allowed; one that cannot be read
 * causes no warning.
 */
export async function redisHealth(options: {
  link: RedisLink;
  send: Send;
  durability: "local" | "replica";
  deadlineMs: number;
}): Promise<StoreHealth> {
  const { link, send, durability } = options;
  const deadline = createDeadline(options.deadlineMs);

  /** Limited by the store's deadline. */
  async function canWrite({ key }: Shard): Promise<boolean> {
    return send("leave_trace", key, traceCall(key), true).then(
      () => true,
      () => false,
    );
  }

  const shards = await Promise.all(
    link.shards().map(async (shard) => {
      const asked = deadline.bound(warningsOf(shard.server, durability), () => new Error("no answer"));
      const [written, warnings] = await Promise.all([canWrite(shard), asked.catch(() => [])]);
      const lost =
        written || shard.address === "" ? [] : [`A Redis primary takes no changes: ${shard.address}`];
      return { written, warnings: [...lost, ...warnings] };
    }),
  );
  return {
    reachable: shards.some(({ written }) => written),
    warnings: [...new Set(shards.flatMap(({ warnings }) => warnings))],
  };
}

async function warningsOf(server: Server, durability: "local" | "replica"): Promise<string[]> {
  const [memory, persistence, replication, save, fsync] = await Promise.all([
    section(server, "memory"),
    section(server, "persistence"),
    section(server, "replication"),
    setting(server, "save"),
    setting(server, "appendfsync"),
  ]);
  const warnings = [];
  const policy = memory.get("maxmemory_policy");
  if (memory.get("maxmemory") !== "0" && policy !== undefined && policy !== "noeviction") {
    warnings.push(`Redis drops data when its memory is full (maxmemory-policy ${policy}): set noeviction`);
  }
  if (persistence.get("aof_enabled") === "0") {
    warnings.push(
      save === ""
        ? "Redis keeps nothing over a restart (no appendonly, no save): set appendonly yes"
        : "Redis loses what it took since its last snapshot when it stops (no appendonly): set appendonly yes",
    );
  } else if (fsync !== null && fsync !== "always") {
    // Not only after a power cut: Redis postpones writes during a flush, and killing it loses them.
    warnings.push(
      `Redis may lose the last second or two when it is killed (appendfsync ${fsync}): set appendfsync always`,
    );
  }
  const replicas = Number(replication.get("connected_slaves") ?? Number.NaN);
  if (durability === "replica" && replicas === 0) {
    warnings.push(
      "A Redis primary has no replica, and DURABILITY=replica waits for one: connect one replica to each",
    );
  }
  if (durability === "replica" && replicas > 1) {
    warnings.push(
      "A Redis primary has several replicas, and DURABILITY=replica waits for one: a failover may choose another",
    );
  }
  return warnings;
}

/** A section of INFO; empty if it may not be read. */
async function section(server: Server, name: string): Promise<Map<string, string>> {
  try {
    const text = textOf(await server.order("INFO", name));
    return new Map(text.split("\r\n").map((line) => [before(line, ":"), line.slice(line.indexOf(":") + 1)]));
  } catch {
    // Forbidden, or the connection was lost: no reason to call the store unreachable.
    return new Map();
  }
}

function before(text: string, mark: string): string {
  return text.slice(0, Math.max(text.indexOf(mark), 0));
}

/** A setting; null if it may not be read. */
async function setting(server: Server, name: string): Promise<string | null> {
  try {
    const [, value] = listOf(await server.order("CONFIG", "GET", name));
    return textOrNull(value);
  } catch {
    return null;
  }
}
