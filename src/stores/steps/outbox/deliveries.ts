import { DELIVERIES_KEPT } from "../../../store.ts";
import type { Delivery, OutboxStore, QueuedEvent } from "../../../store.ts";
import { deliveryKind } from "../../deliveries.ts";
import type { Member, Write } from "../../engine.ts";
import type { StepsContext } from "../context.ts";
import { untilApplied } from "../until-applied.ts";
import { ENDPOINT, endpointKeys, eventOf, FIRST_TIME, GIVEN_UP, partsOfEvent } from "./endpoint.ts";
import { dropText } from "./texts.ts";

type OutboxDeliveries = Pick<
  OutboxStore,
  "due" | "nextDueMs" | "settled" | "failed" | "level" | "longestWaiting"
>;

/** The list of deliveries is shortened when it is longer than DELIVERIES_KEPT by this: not with each one. */
const SPARE_DELIVERIES = 20;

/** What is to be delivered to an endpoint, and how that ended. */
export function outboxDeliveries({ engine }: StepsContext): OutboxDeliveries {
  async function shorten(slot: string, key: string, count: number): Promise<void> {
    if (count <= DELIVERIES_KEPT + SPARE_DELIVERIES) return;
    const [all] = await engine.read([{ read: "range", key, reverse: true }]);
    const members = all.slice(DELIVERIES_KEPT).map(([text]) => text);
    if (members.length === 0) return;
    await engine.apply({ slot, checks: [], writes: [{ write: "take", key, members }] }, { durable: false });
  }

  /** Events of a queue with their attempts: only those that failed have any. */
  async function queued(slug: string, endpoint: string, found: Member[]): Promise<QueuedEvent[]> {
    const failed = found.filter(([, score]) => score > FIRST_TIME).map(([event]) => event);
    const { state: key } = endpointKeys({ slug, endpoint });
    const [counts] =
      failed.length > 0
        ? await engine.read([{ read: "fields", key, fields: failed.map(ENDPOINT.attempts) }])
        : [[]];
    const attempts = new Map(failed.map((event, i) => [event, Number(counts[i] ?? 0)]));
    return found.map(([event, score]) => ({
      slug,
      endpoint,
      ...partsOfEvent(event),
      attempts: attempts.get(event) ?? 0,
      dueMs: dueOf(score),
    }));
  }

  return {
    async due(slug, endpoint, { nowMs, limit }) {
      const { queue: key } = endpointKeys({ slug, endpoint });
      const [fresh, failed] = await engine.read([
        { read: "range", key, to: FIRST_TIME, limit },
        { read: "range", key, from: FIRST_TIME + 1, to: nowMs, limit },
      ]);
      return queued(slug, endpoint, [...fresh, ...failed]);
    },

    async nextDueMs(slug, endpoint) {
      const { queue, state } = endpointKeys({ slug, endpoint });
      const [[next], [off = null]] = await engine.read([
        { read: "range", key: queue, limit: 1 },
        { read: "fields", key: state, fields: [ENDPOINT.off] },
      ]);
      return next && off === null ? dueOf(next[1]) : null;
    },

    async settled(ref, delivery) {
      await dropText(engine, ref);
      const { slot, queue, state, deliveries } = endpointKeys(ref);
      const event = eventOf(ref);
      const { reads } = await engine.apply({
        name: "settled",
        slot,
        checks: [],
        writes: [
          ...(delivery ? [listed(deliveries, delivery)] : []),
          { write: "remove", key: state, fields: [ENDPOINT.attempts(event)] },
          { write: "take", key: queue, members: [event] },
        ],
        reads: [{ read: "number", key: deliveries }],
      });
      await shorten(slot, deliveries, reads[0]);
    },

    async failed(ref, { attempts, dueMs }, delivery) {
      const { slot, queue, state, deliveries } = endpointKeys(ref);
      const event = eventOf(ref);
      const score = { read: "scores", key: queue, members: [event] } as const;
      let [[known = null]] = await engine.read([score], { name: "failed" });
      const count = await untilApplied("put an event back", async () => {
        const { type, reads } = await engine.apply({
          name: "failed",
          slot,
          checks: [{ check: "score", key: queue, member: event, is: [known] }],
          writes: [listed(deliveries, delivery), ...(known === null ? [] : putBack())],
          reads: [score, { read: "number", key: deliveries }],
        });
        [[known = null]] = reads;
        return type === "failed" ? undefined : reads[1];
      });
      await shorten(slot, deliveries, count);

      function putBack(): Write[] {
        return [
          { write: "set", key: state, fields: [[ENDPOINT.attempts(event), String(attempts)]] },
          { write: "put", key: queue, members: [[event, dueMs ?? GIVEN_UP]] },
        ];
      }
    },

    async level(slug, endpoint) {
      const { queue, state } = endpointKeys({ slug, endpoint });
      const [waiting, [off = null], fresh, failed] = await engine.read([
        { read: "number", key: queue, to: GIVEN_UP - 1 },
        { read: "fields", key: state, fields: [ENDPOINT.off] },
        { read: "range", key: queue, to: FIRST_TIME, limit: 1 },
        { read: "range", key: queue, from: FIRST_TIME + 1, to: GIVEN_UP - 1, reverse: true, limit: 1 },
      ]);
      const oldest = [...fresh, ...failed].map(([event]) => ({ slug, endpoint, ...partsOfEvent(event) }));
      return { waiting, oldest, isOff: off !== null };
    },

    async longestWaiting(slug, endpoint, limit) {
      const { queue: key } = endpointKeys({ slug, endpoint });
      const [found] = await engine.read([{ read: "range", key, reverse: true, limit }]);
      return queued(slug, endpoint, found);
    },
  };
}

function listed(key: string, delivery: Delivery): Write {
  const text = JSON.stringify(deliveryKind.stored(delivery));
  return { write: "put", key, members: [[text, delivery.atMs]] };
}

/** 0: an event that was never tried; null: given up. */
function dueOf(score: number): number | null {
  if (score <= FIRST_TIME) return 0;
  return score >= GIVEN_UP ? null : score;
}
