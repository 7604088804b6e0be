-- Instances of the service: their heartbeats, and who is forgotten.
--
-- A heartbeat is a stamp: the time of Redis, for instances of 0.1.0, which judge silence by it; and another one with each
-- beat, for all others, who judge by that alone, whatever happens to the clock of Redis.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Later than `after_ms`, the process's stamp before, also where the clock was set back. Answers the stamp, everybody
-- else's, how often channels and addresses have changed, and the time.
local function beat(keys, args)
  local instances, changes = unpack(keys)
  local process_id, after_ms = unpack(args)
  local found, others = redis.call('ZRANGE', instances, 0, -1, 'WITHSCORES'), {}
  local change_count = redis.call('GET', changes) or '0'
  local now = now_ms()
  local stamp = math.max(now, tonumber(after_ms) + 1)
  for i = 1, #found, 2 do
    if found[i] == process_id then
      -- Others may have given it one.
      stamp = math.max(stamp, tonumber(found[i + 1]) + 1)
    else
      others[#others + 1] = found[i]
      others[#others + 1] = found[i + 1]
    end
  end
  local text = string.format('%.0f', stamp)
  redis.call('ZADD', instances, text, process_id)
  return { text, others, change_count, string.format('%.0f', now) }
end

-- Gives each of these processes a heartbeat where it has none: from now on it beats, or is found silent.
local function enter(keys, args)
  local instances = unpack(keys)
  local text = string.format('%.0f', now_ms())
  for _, process_id in ipairs(args) do redis.call('ZADD', instances, 'NX', text, process_id) end
  return 1
end

-- Up to which stamp a process claims nothing in a bucket, where this one is among them: nobody of 0.1.0 looks for what a
-- forgotten process holds.
local function barred_until(bar_key, stamp)
  local until_ms = redis.call('GET', bar_key)
  return until_ms and tonumber(stamp) <= tonumber(until_ms) and until_ms
end

-- Before a process is forgotten: it comes off the list of holders, unless it holds something here, and claims nothing
-- here any more on the stamp that it was found silent by, or an earlier one.
local function bar(keys, args)
  local own, bar_key, holders = unpack(keys)
  local process_id, stamp, kept_ms = unpack(args)
  if redis.call('EXISTS', own) == 1 then return 0 end
  if not barred_until(bar_key, stamp) then redis.call('SET', bar_key, stamp, 'PX', kept_ms) end
  redis.call('SREM', holders, process_id)
  return 1
end

-- `stamp`: the one that it was found silent by.
local function forget(keys, args)
  local instances = unpack(keys)
  local process_id, stamp = unpack(args)
  if redis.call('ZSCORE', instances, process_id) ~= stamp then return 0 end
  return redis.call('ZREM', instances, process_id)
end

register('beat', beat)
register('enter', enter)
register('bar', bar)
register('forget', forget)
