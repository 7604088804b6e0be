import { DELETED_FENCE } from "../../src/domain/fence.ts";
import { isThreadState } from "../../src/stores/records.ts";
import type { StoreDump, ThreadDump } from "../stores/invariants.ts";
import { redisClient } from "./redis-client.ts";

/** Reads everything in Redis past the store's own operations; of a cluster, every node. While nobody writes. */
export async function dumpRedis(urls: string[]): Promise<StoreDump> {
  const dumps = await Promise.all(urls.map(dumpServer));
  return {
    users: dumps.flatMap((dump) => dump.users),
    accounts: dumps.flatMap((dump) => dump.accounts),
    listed: dumps.flatMap((dump) => dump.listed),
    tokens: dumps.flatMap((dump) => dump.tokens),
    deleting: dumps.flatMap((dump) => dump.deleting),
    names: dumps.flatMap((dump) => dump.names),
    threads: dumps.flatMap((dump) => dump.threads),
    held: dumps.flatMap((dump) => dump.held),
    due: dumps.flatMap((dump) => dump.due),
  };
}

async function dumpServer(url: string): Promise<StoreDump> {
  const client = clientOf(url);
  await client.connect();
  try {
    const dump: StoreDump = emptyDump();
    for (const key of (await client.keys("*")).sort()) await readKey(client, key, dump);
    return dump;
  } finally {
    client.destroy();
  }
}

function emptyDump(): StoreDump {
  return {
    users: [],
    accounts: [],
    listed: [],
    tokens: [],
    deleting: [],
    names: [],
    threads: [],
    held: [],
    due: [],
  };
}

function clientOf(url: string) {
  return redisClient(url);
}

type Client = ReturnType<typeof clientOf>;

/** `KIND:{PLANE:TAG}` and, of most kinds, what it is about. */
const KEY = /^(?<kind>\w+):\{(?<plane>[ctg]):?(?<tag>[^}]*)\}(?::(?<id>.*))?$/su;

async function readKey(client: Client, key: string, dump: StoreDump): Promise<void> {
  const { kind = "", tag: slug = "", id = "" } = KEY.exec(key)?.groups ?? {};
  switch (kind) {
    case "u": {
      const user = await client.hGetAll(key);
      dump.users.push({
        slug,
        user: {
          userId: user["id"] ?? "",
          externalId: user["external"] ?? null,
          displayName: user["name"] ?? null,
          blocked: user["blocked"] === "1",
          whitelisted: user["whitelisted"] === "1",
        },
      });
      return;
    }
    case "x":
      dump.accounts.push({ slug, userId: (await client.get(key)) ?? "" });
      return;
    case "us":
      for (const userId of await client.zRange(key, 0, -1)) dump.listed.push({ slug, userId });
      return;
    case "v":
      dump.tokens.push({ slug, userId: (await client.hGet(key, "user")) ?? "" });
      return;
    case "deleting":
      for (const member of await client.zRange(key, 0, -1)) {
        const [kind, ofSlug = "", userId = ""] = member.split(" ");
        if (kind === "user") dump.deleting.push({ slug: ofSlug, userId });
      }
      return;
    case "n":
      for (const [name, text] of Object.entries(await client.hGetAll(key))) {
        const [uid = "", createdAtMs] = text.split(" ");
        dump.names.push({
          slug,
          userId: id,
          entry: { threadId: name, uid, createdAtMs: Number(createdAtMs) },
        });
      }
      return;
    case "h":
      // A tombstone is no thread.
      if (!(await client.hGet(key, "fence"))?.startsWith(DELETED_FENCE)) {
        dump.threads.push(await threadDump(client, key, id));
      }
      return;
    case "own":
      for (const [uid, fence] of Object.entries(await client.hGetAll(key))) {
        const isListed = await client.sIsMember(`holders:{t:${slug}}`, id);
        dump.held.push({ processId: id, uid, fence, isListed: Boolean(isListed) });
      }
      return;
    case "due":
      for (const { value, score } of await client.zRangeWithScores(key, 0, -1)) {
        dump.due.push({ uid: value, atMs: score });
      }
      return;
    // Parts of a thread, read with its header; and what belongs to no user and no thread.
    case "m":
    case "q":
    case "r":
    case "ro":
    case "p":
    case "id":
    case "act":
    case "chg":
    case "busy":
    case "st":
    case "sv":
    case "whose":
    case "bl":
    case "gone":
    case "filled":
    case "filling":
    case "watch":
    case "d":
    case "w":
    case "y":
    case "c":
    case "aside":
    case "format":
    case "channels":
    case "ips":
    case "changes":
    case "instances":
    case "bar":
    case "restoring":
    case "holders":
    case "listed":
    case "operators":
    case "audit":
      return;
    default:
      throw new Error(`Cannot dump Redis: nobody knows the key ${key}`);
  }
}

async function threadDump(client: Client, key: string, uid: string): Promise<ThreadDump> {
  const part = (kind: string) => kind + key.slice(1);
  const [header, messages, queue, runs, order] = await Promise.all([
    client.hGetAll(key),
    client.lRange(part("m"), 0, -1),
    client.lRange(part("q"), 0, -1),
    client.hKeys(part("r")),
    client.lRange(part("ro"), 0, -1),
  ]);
  if (runs.toSorted().join() !== order.toSorted().join()) {
    throw new Error(`Cannot dump Redis: the runs of ${uid} and their order differ`);
  }
  const body = (entry: string) =>
    JSON.parse(entry.slice(entry.indexOf("\n") + 1)) as { id: string; runId: string };
  const state = header["state"];
  return {
    uid,
    rev: Number(header["rev"] ?? 0),
    fence: header["fence"] ?? null,
    state: isThreadState(state) ? state : "idle",
    snapshot: header["snapshot"] ?? null,
    runId: header["run"] === undefined ? null : (JSON.parse(header["run"]) as { runId: string }).runId,
    messageCount: messages.length,
    messageIds: messages.map((entry) => body(entry).id),
    runIds: order,
    queue: queue.map((entry) => entry.slice(0, entry.indexOf("\n"))),
    waiting: queue.map((entry) => body(entry).runId),
  };
}
