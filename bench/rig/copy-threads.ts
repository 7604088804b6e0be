import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { createClient } from "redis";
import { bucketOf } from "../../src/stores/buckets.ts";
import {
  activityKey,
  externalIdKey,
  ownersKey,
  threadKeys,
  userKeys,
  usersKey,
} from "../../src/stores/redis/keys.ts";
import { SLUG } from "./askings.ts";

/** A user with one thread. All have ids of the same lengths. */
export interface Owned {
  externalId: string;
  userId: string;
  uid: string;
  name: string;
  /** When both were created, and the message was sent. */
  atMs: number;
}

type Order = string[];

const AT_ONCE = 1_000;

/**
 * Copies Redis' records of one user and thread for others: a million in a minute or two, while the store's own calls take
 * ten. The records are those that these calls wrote, with other ids and another time; this file does not know their content.
 * They go to the server as text that is prepared once, with only the ids inserted.
 */
export async function copyThreads(url: string, from: Owned, others: readonly Owned[]): Promise<void> {
  const orders = [...(await ordersOf(url, from)), ...placesOf(from)];
  const own = valuesOf(from);
  const pattern = new RegExp(`(${own.map((one) => one.replace(/[{}]/g, "\\$&")).join("|")})`);
  const texts = orders.map(encoded).join("").split(pattern);
  const places = texts.map((text) => own.indexOf(text));
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  for (let at = 0; at < others.length; at += AT_ONCE) {
    const some = others.slice(at, at + AT_ONCE);
    const copies = some.map((other) => {
      const values = valuesOf(other);
      return texts.map((text, nth) => values[places[nth] ?? -1] ?? text).join("");
    });
    await sent(socket, copies.join(""), some.length * orders.length);
  }
  socket.destroy();
}

/** The values that differ, in the same order for each copy; the bucket with its braces. */
function valuesOf({ externalId, userId, uid, atMs }: Owned): string[] {
  const externalHash = externalIdKey(SLUG, externalId).split(":").at(-1) ?? "";
  return [uid, userId, externalId, externalHash, String(atMs), `{t:${bucketOf(uid)}}`];
}

async function ordersOf(url: string, { externalId, userId, uid }: Owned): Promise<Order[]> {
  const client = createClient({ url });
  await client.connect();
  const keys = [
    ...Object.values(threadKeys(uid)),
    ...Object.values(userKeys(SLUG, userId)),
    externalIdKey(SLUG, externalId),
  ];
  const orders: Order[] = [];
  for (const key of keys) {
    const type = await client.type(key);
    if (type === "hash") orders.push(["HSET", key, ...Object.entries(await client.hGetAll(key)).flat()]);
    else if (type === "list") orders.push(["RPUSH", key, ...(await client.lRange(key, 0, -1))]);
    else if (type === "string") orders.push(["SET", key, (await client.get(key)) ?? ""]);
    else if (type !== "none") throw new Error(`Cannot copy ${key}: it is a ${type}`);
  }
  client.destroy();
  return orders;
}

/** The thread's and user's entries in the lists of the channel. */
function placesOf({ userId, uid, name, atMs }: Owned): Order[] {
  return [
    ["ZADD", usersKey(SLUG), `${atMs}000`, userId],
    ["ZADD", activityKey(SLUG), String(atMs), uid],
    ["HSET", ownersKey(SLUG), uid, `${userId} ${name}`],
  ];
}

function encoded(order: Order): string {
  const parts = order.map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${order.length}\r\n${parts.join("")}`;
}

/** Resolves when everything is answered: each answer is one line. */
async function sent(socket: Socket, text: string, answers: number): Promise<void> {
  let left = answers;
  const done = new Promise<void>((resolve, reject) => {
    socket.on("data", (chunk) => {
      const told = chunk.toString("latin1");
      if (told.includes("-")) reject(new Error(`Cannot copy threads: ${told.slice(told.indexOf("-"), 200)}`));
      left -= told.split("\n").length - 1;
      if (left === 0) resolve();
    });
    socket.once("close", () => reject(new Error("Cannot copy threads: the connection is gone")));
  });
  socket.write(text);
  await done;
  socket.removeAllListeners("data").removeAllListeners("close");
}
