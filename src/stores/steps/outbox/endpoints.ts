import { DELIVERIES_KEPT } from "../../../store.ts";
import type { OutboxStore } from "../../../store.ts";
import { readDelivery } from "../../deliveries.ts";
import { jsonValue } from "../../records/json-value.ts";
import { tables } from "../../tables.ts";
import type { StepsContext } from "../context.ts";
import { fieldIs } from "../field-is.ts";
import { ENDPOINT, endpointKeys } from "./endpoint.ts";

type OutboxEndpoints = Pick<
  OutboxStore,
  "lease" | "release" | "switchEndpoint" | "endpoint" | "endpoints" | "forgetEndpoint"
>;

const PROCESS = "process";

/** The endpoints of a channel, and which process delivers to each. */
export function outboxEndpoints({ engine, processId }: StepsContext): OutboxEndpoints {
  return {
    async lease(slug, endpoint, leaseMs) {
      const { slot, lease: key } = endpointKeys({ slug, endpoint });
      let free: (string | null)[] = [null, processId];
      for (let tries = 0; tries < 2; tries++) {
        const { type, reads } = await engine.apply({
          name: "lease",
          slot,
          checks: [fieldIs(key, PROCESS, ...free)],
          writes: [
            { write: "set", key, fields: [[PROCESS, processId]] },
            { write: "expire", key, inMs: leaseMs },
          ],
          reads: [
            { read: "fields", key, fields: [PROCESS] },
            { read: "expiry", key },
          ],
        });
        if (type !== "failed") return true;
        const [[holder = null], endsAtMs] = reads;
        if (endsAtMs !== null) return false;
        // The step of its holder was stopped before the lease could expire: it is not held.
        free = [holder];
      }
      return false;
    },

    async release(slug, endpoint) {
      const { slot, lease: key } = endpointKeys({ slug, endpoint });
      await engine.apply({
        name: "release",
        slot,
        checks: [fieldIs(key, PROCESS, processId)],
        writes: [{ write: "drop", key }],
      });
    },

    async switchEndpoint(slug, endpoint, offSinceMs) {
      const { slot, state: key } = endpointKeys({ slug, endpoint });
      await engine.apply({
        name: "switchEndpoint",
        slot,
        checks: [],
        writes: [
          offSinceMs === null
            ? { write: "remove", key, fields: [ENDPOINT.off] }
            : { write: "set", key, fields: [[ENDPOINT.off, String(offSinceMs)]] },
        ],
      });
    },

    async endpoint(slug, endpoint) {
      const { queue, state, deliveries } = endpointKeys({ slug, endpoint });
      const [waiting, [off = null], tries] = await engine.read([
        { read: "number", key: queue },
        { read: "fields", key: state, fields: [ENDPOINT.off] },
        { read: "range", key: deliveries, reverse: true, limit: DELIVERIES_KEPT },
      ]);
      return {
        waiting,
        offSinceMs: off === null ? null : Number(off),
        deliveries: tries.map(([text]) => readDelivery(jsonValue(text), deliveries)),
      };
    },

    async endpoints(slug) {
      const [pairs] = await engine.read([{ read: "hash", key: tables.endpoints.key(slug) }]);
      return pairs.map(([endpoint]) => endpoint);
    },

    async forgetEndpoint(slug, endpoint) {
      const { slot, queue, state, lease, deliveries, endpoints } = endpointKeys({ slug, endpoint });
      const dropped = [queue, state, lease, deliveries];
      await engine.apply({
        name: "forgetEndpoint",
        slot,
        checks: [],
        writes: [
          ...dropped.map((key) => ({ write: "drop" as const, key })),
          { write: "remove", key: endpoints, fields: [endpoint] },
        ],
      });
    },
  };
}
