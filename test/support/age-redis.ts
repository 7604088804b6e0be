import { openOrders } from "./redis-orders.ts";

/** A lifetime of nothing removes its key. */
const SHORTEN = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left > 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`;

/** Every key that expires does so that much earlier, as if the time had passed; for each server of a cluster. */
export async function ageRedis(urls: readonly string[], ms: number): Promise<void> {
  await Promise.all(
    urls.map(async (url) => {
      const orders = openOrders(url);
      await orders.send("EVAL", SHORTEN, "0", String(ms)).finally(() => orders.close());
    }),
  );
}
