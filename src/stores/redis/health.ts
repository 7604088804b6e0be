import type { StoreHealth } from "../../store.ts";
import type { RedisCommands } from "./commands.ts";
import { FLAT } from "./connection.ts";
import type { Connection } from "./connection.ts";
import { globalKeys } from "./keys.ts";
import type { RedisLink } from "./link.ts";

/**
 * Can the servers keep what the service promises? Settings are read where that is allowed; what nobody may read is
 * not guessed at.
 */
export async function redisHealth(options: {
  link: RedisLink;
  redis: RedisCommands;
  durability: "local" | "replica";
}): Promise<StoreHealth> {
  const { link, redis, durability } = options;
  try {
    // Bounded by the store's deadline, where the settings below are read in its shadow.
    await redis.read(globalKeys.changes, "GET", globalKeys.changes);
    const connections = await link.primaries();
    const warnings = await Promise.all(connections.map((connection) => warningsOf(connection, durability)));
    return { reachable: true, warnings: [...new Set(warnings.flat())] };
  } catch {
    return { reachable: false, warnings: [] };
  }
}

async function warningsOf(connection: Connection, durability: "local" | "replica"): Promise<string[]> {
  const [memory, persistence, replication, save, fsync] = await Promise.all([
    section(connection, "memory"),
    section(connection, "persistence"),
    section(connection, "replication"),
    setting(connection, "save"),
    setting(connection, "appendfsync"),
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
    // Not only at a loss of power: Redis postpones its writes while a flush is under way, and a kill loses them.
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

/** A section of INFO; empty where it may not be read. */
async function section(connection: Connection, name: string): Promise<Map<string, string>> {
  try {
    const text = await connection.sendCommand<string>(["INFO", name]);
    return new Map(text.split("\r\n").map((line) => [before(line, ":"), line.slice(line.indexOf(":") + 1)]));
  } catch {
    // Forbidden, or gone meanwhile: no reason to call the store unreachable.
    return new Map();
  }
}

function before(text: string, mark: string): string {
  return text.slice(0, Math.max(text.indexOf(mark), 0));
}

/** A setting; null where it may not be read. */
async function setting(connection: Connection, name: string): Promise<string | null> {
  try {
    const [, value] = await connection.sendCommand<string[]>(["CONFIG", "GET", name], FLAT);
    return value ?? null;
  } catch {
    return null;
  }
}
