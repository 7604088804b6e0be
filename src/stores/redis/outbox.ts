import type { Share } from "../../store/instances.ts";
import { DELIVERIES_KEPT } from "../../store/outbox.ts";
import type { Delivery, OutboxStore, QueuedEvent, SealedEvent, ToldRef } from "../../store/outbox.ts";
import { bucketOf } from "../buckets.ts";
import { readDelivery } from "../deliveries.ts";
import type { RedisCommands } from "./commands.ts";
import type { Reply } from "./connection.ts";
import { allBuckets, channelOutboxKeys, endpointKeys, threadKeys, unqueuedKey } from "./keys.ts";
import { scoresOf } from "./pages.ts";
import { jsonValue, listOf, numberOf, textOf, textOrNull } from "./records.ts";

/** Scores of a queue (functions/outbox.lua): order numbers, then times of retries, then events that were given up. */
const FIRST_TIME = 1e12;
const GIVEN_UP = 9e15;
const REPLAYED_AT_ONCE = 500;

/** Events for webhooks: the texts beside their threads, queues of references beside the channel. */
export function redisOutbox(redis: RedisCommands, processId: string): OutboxStore {
  const textsOf = ({ slug, uid }: ToldRef) =>
    uid === null ? channelOutboxKeys(slug).outbox : threadKeys(uid).outbox;

  async function settle(
    ref: ToldRef,
    { again, attempts, delivery }: { again: string; attempts: string; delivery: Delivery | null },
  ): Promise<void> {
    const { queue, state, deliveries } = endpointKeys(ref.slug, ref.endpoint);
    const args = {
      event: nameOf(ref),
      again,
      attempts,
      deliveredAt: String(delivery?.atMs ?? 0),
      delivery: delivery ? JSON.stringify(delivery) : "",
      most: String(DELIVERIES_KEPT),
    };
    await redis.call("settle_event", { queue, state, deliveries }, args);
  }

  async function queued(
    slug: string,
    endpoint: string,
    { from, to, rev = false }: { from: string; to: string; rev?: boolean },
    limit: number,
  ): Promise<QueuedEvent[]> {
    const { queue, state } = endpointKeys(slug, endpoint);
    const order = rev ? ["BYSCORE", "REV"] : ["BYSCORE"];
    const range = [from, to, ...order, "LIMIT", "0", String(limit), "WITHSCORES"];
    const found = scoresOf(await redis.read(queue, "ZRANGE", queue, ...range));
    const failed = found.filter(([, score]) => Number(score) > FIRST_TIME).map(([name]) => name);
    const counts =
      failed.length > 0 ? await redis.read(state, "HMGET", state, ...failed.map(attemptsField)) : [];
    const attempts = new Map(listOf(counts).map((count, i) => [failed[i], Number(textOrNull(count) ?? "0")]));
    return found.map(([name, score]) => ({
      slug,
      endpoint,
      ...partsOf(name),
      attempts: attempts.get(name) ?? 0,
      dueMs: dueOf(Number(score)),
    }));
  }

  return {
    async unqueued({ share, slugs, beforeMs, limit }) {
      const keys = [
        ...bucketsOf(share).map(unqueuedKey),
        ...slugs.map((slug) => channelOutboxKeys(slug).unqueued),
      ];
      const range = ["-inf", String(beforeMs), "LIMIT", "0", String(limit)];
      const found = await Promise.all(keys.map((key) => redis.read(key, "ZRANGEBYSCORE", key, ...range)));
      return found.flatMap(refsFrom);
    },

    async queue(refs) {
      await Promise.all(
        [...grouped(refs)].map(async (same) => {
          const [{ slug, endpoint } = { slug: "", endpoint: "" }] = same;
          const { queue } = endpointKeys(slug, endpoint);
          const { endpoints } = channelOutboxKeys(slug);
          await redis.call("queue_events", { queue, endpoints }, { endpoint }, same.map(nameOf));
          await Promise.all(
            same.map((ref) => {
              const key =
                ref.uid === null ? channelOutboxKeys(slug).unqueued : unqueuedKey(bucketOf(ref.uid));
              return redis.write(key, "ZREM", key, `${slug} ${ref.uid ?? "-"} ${ref.nth} ${endpoint}`);
            }),
          );
        }),
      );
    },

    async lease(slug, endpoint, leaseMs) {
      const { lease } = endpointKeys(slug, endpoint);
      const args = { processId, leaseMs: String(leaseMs) };
      return (await redis.call("lease_endpoint", { lease }, args)) === 1;
    },

    async release(slug, endpoint) {
      const { lease } = endpointKeys(slug, endpoint);
      await redis.call("release_endpoint", { lease }, { processId });
    },

    async told(uid) {
      const { header } = threadKeys(uid);
      return numberOf((await redis.read(header, "HGET", header, "told")) ?? 0);
    },

    async due(slug, endpoint, { nowMs, limit }) {
      const [fresh, failed] = await Promise.all([
        queued(slug, endpoint, { from: "-inf", to: String(FIRST_TIME) }, limit),
        queued(slug, endpoint, { from: `(${FIRST_TIME}`, to: String(nowMs) }, limit),
      ]);
      return [...fresh, ...failed];
    },

    async nextDueMs(slug, endpoint) {
      const { queue, state } = endpointKeys(slug, endpoint);
      const [first, off] = await Promise.all([
        redis.read(queue, "ZRANGE", queue, "0", "0", "WITHSCORES"),
        redis.read(state, "HGET", state, "off"),
      ]);
      const [next] = scoresOf(first);
      return next && off === null ? dueOf(Number(next[1])) : null;
    },

    async event(ref) {
      const field = fieldOf(ref);
      const { uid, nth } = ref;
      const outbox = textsOf(ref);
      const found =
        uid === null
          ? await redis.read(outbox, "HGET", outbox, field)
          : await redis.ask("read_event", { header: threadKeys(uid).header, outbox }, { nth, field });
      const text = textOrNull(found);
      if (text === null) return null;
      return text.startsWith("=") ? { type: "sealed", ...sealedFrom(text) } : { type: "told", text };
    },

    async seal(ref, sealed) {
      const args = { field: fieldOf(ref), sealed: sealedText(sealed) };
      const kept = textOrNull(await redis.call("seal_event", { outbox: textsOf(ref) }, args));
      return kept === null ? null : sealedFrom(kept);
    },

    async settled(ref, delivery) {
      const outbox = textsOf(ref);
      // The text first: a queued event without a text is gone, and is dropped when it is reached.
      await redis.write(outbox, "HDEL", outbox, fieldOf(ref));
      await settle(ref, { again: "", attempts: "", delivery });
    },

    failed: (ref, { attempts, dueMs }, delivery) =>
      settle(ref, { again: String(dueMs ?? GIVEN_UP), attempts: String(attempts), delivery }),

    async switchEndpoint(slug, endpoint, offSinceMs) {
      const { state } = endpointKeys(slug, endpoint);
      if (offSinceMs === null) await redis.write(state, "HDEL", state, "off");
      else await redis.write(state, "HSET", state, "off", String(offSinceMs));
    },

    async endpoint(slug, endpoint) {
      const { queue, state, deliveries } = endpointKeys(slug, endpoint);
      const [waiting, off, tries] = await Promise.all([
        redis.read(queue, "ZCARD", queue),
        redis.read(state, "HGET", state, "off"),
        redis.read(deliveries, "ZRANGE", deliveries, "0", "-1", "REV"),
      ]);
      const since = textOrNull(off);
      return {
        waiting: numberOf(waiting),
        offSinceMs: since === null ? null : Number(since),
        deliveries: listOf(tries).map((text) => readDelivery(jsonValue(textOf(text)), deliveries)),
      };
    },

    async level(slug, endpoint) {
      const { queue, state } = endpointKeys(slug, endpoint);
      const last = { from: `(${GIVEN_UP}`, to: `(${FIRST_TIME}`, rev: true };
      const [waiting, off, fresh, failed] = await Promise.all([
        redis.read(queue, "ZCOUNT", queue, "-inf", `(${GIVEN_UP}`),
        redis.read(state, "HGET", state, "off"),
        queued(slug, endpoint, { from: "-inf", to: String(FIRST_TIME) }, 1),
        queued(slug, endpoint, last, 1),
      ]);
      return { waiting: numberOf(waiting), oldest: [...fresh, ...failed], isOff: off !== null };
    },

    async endpoints(slug) {
      const { endpoints } = channelOutboxKeys(slug);
      return listOf(await redis.read(endpoints, "SMEMBERS", endpoints)).map(textOf);
    },

    async forgetEndpoint(slug, endpoint) {
      const { queue, state, lease, deliveries } = endpointKeys(slug, endpoint);
      const { endpoints } = channelOutboxKeys(slug);
      await redis.write(queue, "DEL", queue, state, lease, deliveries);
      await redis.write(endpoints, "SREM", endpoints, endpoint);
    },

    async replay(slug, endpoint) {
      const { queue } = endpointKeys(slug, endpoint);
      for (let all = 0; ;) {
        const some = numberOf(
          await redis.call("replay_events", { queue }, { most: String(REPLAYED_AT_ONCE) }),
        );
        all += some;
        if (some < REPLAYED_AT_ONCE) return all;
      }
    },

    longestWaiting: (slug, endpoint, limit) =>
      queued(slug, endpoint, { from: "+inf", to: "-inf", rev: true }, limit),
  };
}

const attemptsField = (name: string) => `a ${name}`;
const fieldOf = ({ nth, endpoint }: ToldRef) => `${nth} ${endpoint}`;
const nameOf = ({ uid, nth }: ToldRef) => `${uid ?? "-"} ${nth}`;

function partsOf(name: string): Pick<ToldRef, "uid" | "nth"> {
  const [uid = "", nth = ""] = name.split(" ");
  return { uid: uid === "-" ? null : uid, nth };
}

function dueOf(score: number): number | null {
  if (score <= FIRST_TIME) return 0;
  return score >= GIVEN_UP ? null : score;
}

function bucketsOf({ rank, of }: Share): string[] {
  return allBuckets.filter((_, nth) => nth % of === rank);
}

/** Sorted by number, within each thread. */
export function refsFrom(reply: Reply | undefined): ToldRef[] {
  return listOf(reply ?? [])
    .map((member) => {
      const [slug = "", uid = "", nth = "", endpoint = ""] = textOf(member).split(" ");
      return { slug, uid: uid === "-" ? null : uid, nth, endpoint };
    })
    .sort((a, b) => Number(a.nth) - Number(b.nth) || 0);
}

function grouped(refs: readonly ToldRef[]): Iterable<ToldRef[]> {
  const groups = new Map<string, ToldRef[]>();
  for (const ref of refs) {
    const name = `${ref.slug} ${ref.endpoint}`;
    const same = groups.get(name) ?? [];
    same.push(ref);
    groups.set(name, same);
  }
  return groups.values();
}

export function sealedText({ id, body }: SealedEvent): string {
  return `=${id}\n${body}`;
}

function sealedFrom(text: string): SealedEvent {
  const end = text.indexOf("\n");
  return { id: text.slice(1, end), body: text.slice(end + 1) };
}
