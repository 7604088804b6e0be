import { STORE_DEADLINE_MS } from "../../../store.ts";
import type { Engine, How, Read, Step } from "../../engine.ts";
import { createSend } from "./calls.ts";
import type { OnCommand, Send } from "./calls.ts";
import { answersFrom, appliedFrom, listOf, membersFrom, numberOf, pairsFrom, textOf } from "./answers.ts";
import { applyCall, plainCommand, readCall } from "./encode.ts";
import { redisHealth } from "./health.ts";
import type { RedisLink } from "./link.ts";
import { scanKeys } from "./scan.ts";

/** Entries of one page. */
const PAGE = 500;

/** The engine on Redis, or on a Redis Cluster. Closing it closes the link. */
export function redisEngine(
  link: RedisLink,
  options: {
    durability: "local" | "replica";
    deadlineMs?: number;
    onCommand?: OnCommand | undefined;
    /** Called whenever a connection is ready. */
    reconnected: Set<() => void>;
  },
): Engine {
  const { reconnected, deadlineMs = STORE_DEADLINE_MS } = options;
  const send = createSend({ ...options, link, deadlineMs });
  /** The time of Redis less this process's monotonic clock; null: not read yet. */
  let aheadMs: number | null = null;
  /** Messages in flight: closing waits for them. */
  const telling = new Set<Promise<unknown>>();

  function read(reads: readonly Read[], { durable = true, name = "read" }: How = {}): Promise<unknown[]> {
    const [first] = reads;
    if (!first) return Promise.resolve([]);
    const plain = reads.length === 1 ? plainCommand(first) : null;
    if (plain) return send(name, first.key, plain, durable).then((reply) => answersFrom(reads, [reply]));
    return send(name, first.key, readCall(reads), durable).then((reply) => answersFrom(reads, reply));
  }

  function apply(step: Step, { durable = true }: How = {}) {
    const { name = "apply", slot, reads = [] } = step;
    return send(name, `{${slot}}`, applyCall(step), durable).then((reply) => appliedFrom(reads, reply));
  }

  async function* pages(command: "HSCAN" | "ZSCAN", key: string) {
    let cursor = "0";
    do {
      const asked = [command, key, cursor, "COUNT", String(PAGE)];
      const [next, found] = listOf(await send(command, key, asked, true));
      cursor = textOf(next);
      if (listOf(found).length > 0) yield found;
    } while (cursor !== "0");
  }

  return {
    kind: "redis",
    read: read as Engine["read"],
    apply: apply as Engine["apply"],

    async *hashPages(key) {
      for await (const page of pages("HSCAN", key)) yield pairsFrom(page);
    },

    async *memberPages(key) {
      for await (const page of pages("ZSCAN", key)) yield membersFrom(page);
    },

    keys: (prefix) => scanKeys(link, `${literal(prefix)}*`),

    timeMs: () => (aheadMs === null ? null : Math.floor(performance.now() + aheadMs)),

    async readTime() {
      aheadMs = (await timeFrom(send)) - performance.now();
    },

    tell(name, text) {
      // Best effort: a process that needs an answer asks again.
      const sent: Promise<unknown> = send("PUBLISH", name, ["PUBLISH", name, text], false)
        .catch(() => {})
        .then(() => telling.delete(sent));
      telling.add(sent);
    },

    listen: (name, listener) => link.subscribe(name, listener),

    onReconnect(callback) {
      reconnected.add(callback);
      return () => reconnected.delete(callback);
    },

    health: () => redisHealth({ link, send, durability: options.durability, deadlineMs }),

    async close() {
      await Promise.all(telling);
      link.close();
    },
  };
}

/** As the server that has the shared keys says it: with heartbeats, so every instance asks the same one. */
async function timeFrom(send: Send): Promise<number> {
  const [seconds, micros] = listOf(await send("TIME", "{g}", ["TIME"], false));
  return numberOf(seconds) * 1000 + Math.floor(numberOf(micros) / 1000);
}

/** As a pattern that matches nothing else. */
function literal(text: string): string {
  return text.replace(/[\\*?[\]]/g, String.raw`\$&`);
}
