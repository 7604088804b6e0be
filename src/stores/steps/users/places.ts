/** The place of a new user among the channel's users: a thousand for each millisecond. */
export type Places = (atMs: number) => number;

/** Users that this process creates in one millisecond keep their order; after the thousandth they share a place. */
export function createPlaces(): Places {
  let latest = { atMs: -1, count: 0 };
  return (atMs) => {
    latest = { atMs, count: latest.atMs === atMs ? latest.count + 1 : 0 };
    return atMs * 1000 + Math.min(latest.count, 999);
  };
}
