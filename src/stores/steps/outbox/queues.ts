import type { OutboxStore, ToldRef } from "../../../store.ts";
import { slotOf } from "../../engine.ts";
import type { Write } from "../../engine.ts";
import { bucketOf, tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { inTurn } from "../in-turn.ts";
import { bucketsOf } from "../instances.ts";
import { grouped } from "../grouped.ts";
import { untilApplied } from "../until-applied.ts";
import { ENDPOINT, endpointKeys, eventOf, FIRST_TIME } from "./endpoint.ts";

const REPLAYED_AT_ONCE = 500;

type Keys = ReturnType<typeof endpointKeys>;

/** Puts events into the queues of endpoints: those that no process has queued yet, and failed ones again. */
export function outboxQueues({ engine }: StepsContext): Pick<OutboxStore, "unqueued" | "queue" | "replay"> {
  const turn = inTurn();
  /** The number of an endpoint's last new event, as this process knows it, by the key of the queue. */
  const lasts = new Map<string, string | null>();
  /** Events that are queued together once the step before them has ended, by the key of the queue. */
  const joined = new Map<string, { events: string[]; queued: Promise<void> }>();

  const readsLast = ({ state }: Keys) => ({ read: "fields", key: state, fields: [ENDPOINT.last] }) as const;

  /** Numbers these events from `last` on and answers how many; undefined: another process has numbered some. */
  async function number(keys: Keys, last: string | null, events: readonly string[], mode?: "new") {
    const { slot, state, queue, endpoints } = keys;
    const first = Number(last ?? 0) + 1;
    const members = events.map((event, i) => [event, first + i] as const);
    const put: Write = { write: "put", key: queue, members, ...(mode ? { mode } : {}) };
    const now = String(first + events.length - 1);
    const { type, reads } = await engine.apply({
      name: "queue",
      slot,
      checks: [fieldIs(state, ENDPOINT.last, last)],
      writes: [
        { write: "set", key: endpoints, fields: [[keys.endpoint, ""]] },
        put,
        { write: "set", key: state, fields: [[ENDPOINT.last, now]] },
      ],
      reads: [readsLast(keys)],
    });
    const [[stored = null]] = reads;
    lasts.set(queue, type === "failed" ? stored : now);
    return type === "failed" ? undefined : events.length;
  }

  async function append(refs: readonly ToldRef[]): Promise<void> {
    const [first] = refs;
    if (!first) return;
    const keys = endpointKeys(first);
    const events = refs.map(eventOf);
    const next = joined.get(keys.queue);
    if (next) {
      next.events.push(...events);
      return next.queued;
    }
    const mine = { events, queued: Promise.resolve() };
    joined.set(keys.queue, mine);
    mine.queued = turn(keys.queue, async () => {
      joined.delete(keys.queue);
      await untilApplied("queue events", () => number(keys, lasts.get(keys.queue) ?? null, events, "new"));
    });
    return mine.queued;
  }

  async function replaySome(keys: Keys): Promise<number | undefined> {
    const [failed, [last = null]] = await engine.read([
      { read: "range", key: keys.queue, from: FIRST_TIME + 1, limit: REPLAYED_AT_ONCE },
      readsLast(keys),
    ]);
    if (failed.length === 0) return 0;
    const events = failed.map(([event]) => event);
    return number(keys, last, events);
  }

  return {
    async unqueued({ share, slugs, beforeMs, limit }) {
      const keys = [
        ...bucketsOf(share).map(tables.unqueued.key),
        ...slugs.map((slug) => tables.channelUnqueued.key(slug)),
      ];
      const found = await Promise.all(
        keys.map((key) => engine.read([{ read: "range", key, to: beforeMs, limit }], { name: "unqueued" })),
      );
      return found.flatMap(([members]) => members.map(([text]) => refFrom(text)).sort(byNumber));
    },

    async queue(refs) {
      await Promise.all([...grouped(refs, (ref) => endpointKeys(ref).queue).values()].map(append));
      const unqueued = grouped(refs, unqueuedKeyOf);
      // Lost, they are only queued again, without a text that could be sent.
      await Promise.all(
        [...unqueued].map(([key, same]) => {
          const writes = [{ write: "take" as const, key, members: same.map(refText) }];
          return engine.apply({ name: "queue", slot: slotOf(key), checks: [], writes }, { durable: false });
        }),
      );
    },

    async replay(slug, endpoint) {
      const keys = endpointKeys({ slug, endpoint });
      for (let all = 0; ;) {
        const some = await turn(keys.queue, () => untilApplied("replay events", () => replaySome(keys)));
        all += some;
        if (some < REPLAYED_AT_ONCE) return all;
      }
    },
  };
}

function unqueuedKeyOf({ slug, uid }: ToldRef): string {
  return uid === null ? tables.channelUnqueued.key(slug) : tables.unqueued.key(bucketOf(uid));
}

/** An event among those that are not queued yet: `SLUG UID NTH ENDPOINT`. */
function refText({ slug, uid, nth, endpoint }: ToldRef): string {
  return `${slug} ${uid ?? "-"} ${nth} ${endpoint}`;
}

function refFrom(text: string): ToldRef {
  const [slug = "", uid = "", nth = "", endpoint = ""] = text.split(" ");
  return { slug, uid: uid === "-" ? null : uid, nth, endpoint };
}

/** Events of a thread by number; all others stay in their order. */
function byNumber(a: ToldRef, b: ToldRef): number {
  return Number(a.nth) - Number(b.nth) || 0;
}
