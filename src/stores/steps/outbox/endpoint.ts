import type { ToldRef } from "../../../store.ts";
import { slotOf } from "../../engine.ts";
import { tables } from "../../tables.ts";

/** Scores in a queue: the numbers of new events, then times of retries, then events that were given up. */
export const FIRST_TIME = 1e12;
export const GIVEN_UP = 9e15;

/** The fields of an endpoint. */
export const ENDPOINT = {
  off: "off",
  last: "last",
  attempts: (event: string) => `a ${event}`,
} as const;

export function endpointKeys({ slug, endpoint }: Pick<ToldRef, "slug" | "endpoint">) {
  const queue = tables.queue.key(slug, endpoint);
  return {
    slot: slotOf(queue),
    queue,
    state: tables.endpoint.key(slug, endpoint),
    lease: tables.lease.key(slug, endpoint),
    deliveries: tables.deliveries.key(slug, endpoint),
    endpoints: tables.endpoints.key(slug),
    endpoint,
  };
}

/** An event in the queue of its endpoint. */
export function eventOf({ uid, nth }: Pick<ToldRef, "uid" | "nth">): string {
  return `${uid ?? "-"} ${nth}`;
}

export function partsOfEvent(event: string): Pick<ToldRef, "uid" | "nth"> {
  const [uid = "", nth = ""] = event.split(" ");
  return { uid: uid === "-" ? null : uid, nth };
}
