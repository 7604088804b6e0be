import { createClient, ErrorReply } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linkToCluster } from "../../src/stores/redis/cluster.ts";
import { library } from "../../src/stores/redis/functions.ts";
import type { RedisLink } from "../../src/stores/redis/link.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import type { RedisCluster } from "../support/redis-cluster.ts";
import { contentsOf } from "./contents.ts";
import { functionCases } from "./function-calls.ts";
import type { FunctionCase } from "./function-calls.ts";
import { calledBy, openOver, quiet } from "./over-link.ts";

/**
 * P10: while a slot moves, some of its keys are on one node and some on the other. A function is then put off, or done as
 * ever: it is never half done, whichever keys have moved.
 */
let cluster: RedisCluster;
let clients: ReturnType<typeof clientOf>[];
let nodeIds: string[];

function clientOf(url: string) {
  return createClient({ url });
}

beforeAll(async () => {
  cluster = await startRedisCluster();
  clients = cluster.urls.map(clientOf);
  await Promise.all(clients.map((client) => client.connect()));
  nodeIds = await atEach("CLUSTER", "MYID");
  await atEach("FUNCTION", "LOAD", library);
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  await cluster.stop();
});

function atEach(...command: string[]): Promise<string[]> {
  return Promise.all(clients.map((client) => client.sendCommand<string>(command)));
}

function at<Answer = string>(node: number, ...command: string[]): Promise<Answer> {
  const client = clients[node];
  if (!client) throw new Error(`Cannot send a command: there is no node ${node}`);
  return client.sendCommand<Answer>(command);
}

/** Everything before the step, and the call that the step would make, which is kept back. */
async function prepare(it: FunctionCase): Promise<string[]> {
  await atEach("FLUSHALL");
  const link = await linkToCluster(cluster.urls, quiet);
  let call: string[] | null = null;
  let keepsBack = false;
  const keepingBack: RedisLink = {
    ...link,
    send(key, args, copied) {
      if (!keepsBack || calledBy(args) !== it.function) return link.send(key, args, copied);
      call ??= args;
      throw new Error("kept back");
    },
  };
  const { store, redis } = await openOver(keepingBack);
  try {
    await it.before(store);
    keepsBack = true;
    await it.step(store, redis).catch(() => {});
  } finally {
    await store.close();
  }
  if (!call) throw new Error(`Cannot prepare ${it.name}: its step calls no ${it.function}`);
  return call;
}

/** The slot of a call's keys, the nodes between which it moves, and the keys that there are. */
async function placesOf(call: string[]) {
  const keys = [...new Set(call.slice(3, 3 + Number(call[2])))];
  const slot = Number(await at(0, "CLUSTER", "KEYSLOT", keys[0] ?? ""));
  const home = Math.floor((slot * 3) / 16_384);
  const existing = [];
  for (const key of keys) if ((await at<number>(home, "EXISTS", key)) === 1) existing.push(key);
  return { slot: String(slot), home, next: (home + 1) % 3, existing };
}

/** As a client of a cluster does. "put off": some of the keys are here, and some are there. */
async function follow(node: number, call: string[], asking = false): Promise<unknown> {
  try {
    if (asking) await at(node, "ASKING");
    return await at<unknown>(node, ...call);
  } catch (error) {
    const [word, , address] = error instanceof ErrorReply ? error.message.split(" ") : [];
    if (word === "TRYAGAIN") return "put off";
    if (word !== "ASK") throw error;
    return follow(
      cluster.nodes.findIndex(({ port }) => address?.endsWith(`:${port}`)),
      call,
      true,
    );
  }
}

async function migrate(from: number, to: number, keys: string[]): Promise<void> {
  if (keys.length === 0) return;
  await at(from, "MIGRATE", "127.0.0.1", String(cluster.nodes[to]?.port), "", "0", "5000", "KEYS", ...keys);
}

/** What the call answers and leaves in the end; while it is made, these keys of its slot have moved already. */
async function play(it: FunctionCase, moved: string[]) {
  const call = await prepare(it);
  const { slot, home, next } = await placesOf(call);
  await at(next, "CLUSTER", "SETSLOT", slot, "IMPORTING", nodeIds[home] ?? "");
  await at(home, "CLUSTER", "SETSLOT", slot, "MIGRATING", nodeIds[next] ?? "");
  try {
    await migrate(home, next, moved);
    const early = await follow(home, call);
    // Whole again where it was: the nodes take a while to agree on a new owner.
    await at(home, "CLUSTER", "SETSLOT", slot, "STABLE");
    await migrate(next, home, await keysIn(next, slot));
    const answer = early === "put off" ? await at<unknown>(home, ...call) : early;
    return { answer, contents: await contentsIn(home, slot) };
  } finally {
    for (const node of [home, next]) await at(node, "CLUSTER", "SETSLOT", slot, "STABLE");
  }
}

async function playUndisturbed(it: FunctionCase) {
  const call = await prepare(it);
  const { slot, home, existing } = await placesOf(call);
  const answer = await at<unknown>(home, ...call);
  return { existing, left: { answer, contents: await contentsIn(home, slot) } };
}

function keysIn(node: number, slot: string): Promise<string[]> {
  return at<string[]>(node, "CLUSTER", "GETKEYSINSLOT", slot, "1000");
}

async function contentsIn(node: number, slot: string): Promise<Record<string, unknown>> {
  const keys = new Set(await keysIn(node, slot));
  const client = clients[node];
  const contents = client ? await contentsOf(client) : {};
  return Object.fromEntries(Object.entries(contents).filter(([key]) => keys.has(key)));
}

describe("a function whose slot is on its way to another node", () => {
  // A beat answers the time.
  const cases = functionCases().filter((each) => each.function !== "beat");

  it.each(cases.map((each) => [each.name, each] as const))(
    "%s: is done as ever, or put off until the slot is whole",
    async (_name, each) => {
      const { existing, left } = await playUndisturbed(each);
      const subsets = [
        [],
        existing,
        ...existing.map((key) => [key]),
        ...existing.map((key) => existing.filter((other) => other !== key)),
      ];
      for (const moved of subsets) {
        expect(await play(each, moved), `moved: ${moved.join(" ")}`).toEqual(left);
      }
    },
  );
});
