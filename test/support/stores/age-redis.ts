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

const SHIFT = `
local by = tonumber(ARGV[1])
local function later(ms) return string.format('%.0f', tonumber(ms) + by) end
for _, key in ipairs(redis.call('KEYS', 'h:*')) do
  local snapshot = redis.call('HGET', key, 'snapshot') or ''
  local shifted = string.gsub(snapshot, '("deadlineMs":)(%d+)', function(name, ms) return name .. later(ms) end)
  if shifted ~= '' then redis.call('HSET', key, 'snapshot', shifted) end
  local due = redis.call('HGET', key, 'dueAtMs') or ''
  if due ~= '' then redis.call('HSET', key, 'dueAtMs', later(due)) end
end
for _, key in ipairs(redis.call('KEYS', 'due:*')) do
  local due = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #due, 2 do redis.call('ZADD', key, later(due[i + 1]), due[i]) end
end`;

/** The deadlines of threads are that much later: they are judged by the time of Redis, which a test cannot set. */
export async function shiftDeadlines(urls: readonly string[], byMs: number): Promise<void> {
  await Promise.all(
    urls.map(async (url) => {
      const orders = openOrders(url);
      await orders.send("EVAL", SHIFT, "0", String(Math.round(byMs))).finally(() => orders.close());
    }),
  );
}
