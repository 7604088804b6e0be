import { PLACES_PER_MS } from "../../tables.ts";

/** The place of a new user among the channel's users. */
export type Places = (atMs: number) => number;

/** Users that this process creates in one millisecond keep their order; after the thousandth they share a place. */
export function createPlaces(): Places {
  let latest = { atMs: -1, count: 0 };
  return (atMs) => {
    latest = { atMs, count: latest.atMs === atMs ? latest.count + 1 : 0 };
    return atMs * PLACES_PER_MS + Math.min(latest.count, PLACES_PER_MS - 1);
  };
}
