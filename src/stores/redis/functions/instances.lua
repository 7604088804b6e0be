-- Instances of the service: when each was last heard of, and which are forgotten.

-- By the clock of Redis, which is one for all processes. Answers who was last heard of too long ago, and when.
local function beat(keys, args)
  local instances = unpack(keys)
  local process_id, ttl_ms = unpack(args)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local now_text, silent_before = string.format('%.0f', now), string.format('(%.0f', now - tonumber(ttl_ms))
  local found, silent = redis.call('ZRANGEBYSCORE', instances, '-inf', silent_before, 'WITHSCORES'), {}
  for i = 1, #found, 2 do
    -- Itself it is heard of now.
    if found[i] ~= process_id then
      silent[#silent + 1] = found[i]
      silent[#silent + 1] = found[i + 1]
    end
  end
  redis.call('ZADD', instances, now_text, process_id)
  return { now_text, silent }
end

-- A process that was found silent may claim again once it was heard of since: nobody looks for what a forgotten one holds.
local function is_barred(bar, heard_at_ms)
  local until_ms = redis.call('GET', bar)
  return until_ms and tonumber(heard_at_ms) <= tonumber(until_ms)
end

-- From now on a process claims nothing in this bucket on a beat that is no later than the one it was found silent by.
-- `own`: what it holds. `looked_at_ms`: the time of that look.
local function bar(keys, args)
  local own, bar_key = unpack(keys)
  local looked_at_ms, kept_ms = unpack(args)
  if redis.call('EXISTS', own) == 1 then return 0 end
  if not is_barred(bar_key, looked_at_ms) then redis.call('SET', bar_key, looked_at_ms, 'PX', kept_ms) end
  return 1
end

-- `heard_at`: as it was when it was found silent.
local function forget(keys, args)
  local instances = unpack(keys)
  local process_id, heard_at = unpack(args)
  if redis.call('ZSCORE', instances, process_id) ~= heard_at then return 0 end
  return redis.call('ZREM', instances, process_id)
end

register('beat', beat)
register('bar', bar)
register('forget', forget)
