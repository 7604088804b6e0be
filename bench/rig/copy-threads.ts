import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { createClient } from "redis";
import { bucketOf, externalId as keyOfExternalId } from "../../src/stores/tables.ts";

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
 * ten. The records are those that these calls wrote, with other ids and another time; this file does not know their content, nor
 * their keys. They go to the server as text that is prepared once, with only the ids inserted.
 */
export async function copyThreads(url: string, from: Owned, others: readonly Owned[]): Promise<void> {
  const orders = await ordersOf(url, from);
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
  return [uid, userId, externalId, keyOfExternalId(externalId), String(atMs), `{t:${bucketOf(uid)}}`];
}

/** Whatever Redis has under a key, or in an entry, that names one of these ids. */
async function ordersOf(url: string, { externalId, userId, uid }: Owned): Promise<Order[]> {
  const client = createClient({ url });
  await client.connect();
  const ids = [uid, userId, keyOfExternalId(externalId)];
  const isOwn = (text: string) => ids.some((id) => text.includes(id));
  const orders: Order[] = [];
  for (const key of await client.keys("*")) {
    const type = await client.type(key);
    const entries =
      type === "hash"
        ? Object.entries(await client.hGetAll(key))
        : type === "zset"
          ? (await client.zRangeWithScores(key, 0, -1)).map(({ value, score }) => [String(score), value])
          : [];
    const copied = isOwn(key) ? entries : entries.filter((entry) => isOwn(entry.join(" ")));
    if (copied.length > 0) orders.push([type === "hash" ? "HSET" : "ZADD", key, ...copied.flat()]);
  }
  client.destroy();
  return orders;
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
