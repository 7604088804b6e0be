import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../../errors.ts";
import type { Compaction } from "../../backup/store-data.ts";
import type { RedisLink } from "./link.ts";
import { textOf } from "./answers.ts";
import type { Server } from "./server.ts";

const LOOK_MS = 200;

/**
 * Makes each primary rewrite its append-only file, and waits until it has: the old one still has deleted data.
 * Servers without such a file are skipped. Throws if the user of REDIS_URL may not ask for it.
 */
export async function rewriteAppendOnlyFiles(link: Pick<RedisLink, "shards">): Promise<Compaction> {
  const servers = link.shards();
  const rewritten = await Promise.all(servers.map(({ server, address }) => rewrite(server, address)));
  return { kind: "redis", servers: servers.length, rewritten: rewritten.filter(Boolean).length };
}

async function rewrite(server: Server, address: string): Promise<boolean> {
  if ((await persistence(server)).get("aof_enabled") !== "1") return false;
  // A rewrite that began earlier may contain what was deleted since.
  await untilOver(server);
  await server.order("BGREWRITEAOF").catch((cause: unknown) => {
    if (!messageOf(cause).startsWith("NOPERM")) throw cause;
    const fact = "this user of Redis may not ask for it: call BGREWRITEAOF as another user";
    throw new Error(`${fact}${named(address)}`, { cause });
  });
  const status = (await untilOver(server)).get("aof_last_bgrewrite_status");
  if (status !== "ok")
    throw new Error(`the rewrite of the append-only file failed (${status})${named(address)}`);
  return true;
}

function named(address: string): string {
  return address === "" ? "" : `, at ${address}`;
}

async function untilOver(server: Server): Promise<Map<string, string>> {
  for (;;) {
    const found = await persistence(server);
    const isOver = ["aof_rewrite_in_progress", "aof_rewrite_scheduled"].every(
      (name) => found.get(name) === "0",
    );
    if (isOver) return found;
    await sleep(LOOK_MS);
  }
}

async function persistence(server: Server): Promise<Map<string, string>> {
  const lines = textOf(await server.order("INFO", "persistence")).split("\r\n");
  return new Map(
    lines.map((line): [string, string] => {
      const [name = "", value = ""] = line.split(":");
      return [name, value];
    }),
  );
}
