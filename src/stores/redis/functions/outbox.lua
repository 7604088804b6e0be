-- What webhooks are told. An event is written down beside its thread, by the commit (threads.lua), or beside the channel's
-- users (users.lua); here it is queued for its endpoint, delivered and forgotten. A queue has no texts: `UID NTH` of each
-- event, new ones by the order in which they came, which is less than any time, and those that failed by when they are due.

local FIRST_TIME = 1e12

-- What is sent, kept once: '=' and the text. Answers what is kept.
local function seal_event(keys, args)
  local outbox = unpack(keys)
  local field, sealed = unpack(args)
  local found = redis.call('HGET', outbox, field)
  if not found or string.sub(found, 1, 1) == '=' then return found end
  redis.call('HSET', outbox, field, sealed)
  return sealed
end

-- The text of an event that happened: a commit that was stopped has written it down, and not counted it.
local function read_event(keys, args)
  local header, outbox = unpack(keys)
  local nth, field = unpack(args)
  local told = tonumber(redis.call('HGET', header, 'told') or '0')
  if tonumber(nth) > told then return false end
  return redis.call('HGET', outbox, field)
end

-- The place of the last new event.
local function last_place(queue)
  local last = redis.call('ZRANGE', queue, FIRST_TIME, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
  return tonumber(last[2] or '0')
end

-- The events follow. One that is queued already stays where it is.
local function queue_events(keys, args)
  local queue, endpoints = unpack(keys)
  local endpoint = unpack(args)
  local last = last_place(queue)
  local scores, fresh = redis.call('ZMSCORE', queue, unpack(args, 2)), {}
  for i = 2, #args do
    if not scores[i - 1] then
      last = last + 1
      fresh[#fresh + 1] = string.format('%.0f', last)
      fresh[#fresh + 1] = args[i]
    end
  end
  if #fresh == 0 then return 0 end
  redis.call('SADD', endpoints, endpoint)
  redis.call('ZADD', queue, 'NX', unpack(fresh))
  return 1
end

-- How a try ended. `again`: when it is due, '' where it is over. `delivery`: for the list of them, '' for none; it keeps
-- the latest `most`.
local function settle_event(keys, args)
  local queue, state, deliveries = unpack(keys)
  local event, again, attempts, delivered_at, delivery, most = unpack(args)
  local is_queued = redis.call('ZSCORE', queue, event)
  local old = delivery ~= '' and redis.call('ZRANGE', deliveries, 0, -tonumber(most)) or {}
  if delivery ~= '' then
    redis.call('ZADD', deliveries, delivered_at, delivery)
    if #old > 0 then redis.call('ZREM', deliveries, unpack(old)) end
  end
  if again == '' then
    redis.call('HDEL', state, 'a ' .. event)
    redis.call('ZREM', queue, event)
  elseif is_queued then
    redis.call('HSET', state, 'a ' .. event, attempts)
    redis.call('ZADD', queue, again, event)
  end
  return 1
end

-- Those that failed, some at once, become new ones.
local function replay_events(keys, args)
  local queue = unpack(keys)
  local most = unpack(args)
  local last = last_place(queue)
  local failed = redis.call('ZRANGE', queue, '(' .. FIRST_TIME, '+inf', 'BYSCORE', 'LIMIT', 0, most)
  if #failed == 0 then return 0 end
  local moved = {}
  for i, event in ipairs(failed) do
    moved[#moved + 1] = string.format('%.0f', last + i)
    moved[#moved + 1] = event
  end
  redis.call('ZADD', queue, unpack(moved))
  return #failed
end

-- Who delivers to an endpoint alone, for a while.
local function lease_endpoint(keys, args)
  local lease = unpack(keys)
  local process_id, lease_ms = unpack(args)
  local holder = redis.call('GET', lease)
  if holder and holder ~= process_id then return 0 end
  redis.call('SET', lease, process_id, 'PX', lease_ms)
  return 1
end

local function release_endpoint(keys, args)
  local lease = unpack(keys)
  local process_id = unpack(args)
  if redis.call('GET', lease) ~= process_id then return 0 end
  redis.call('DEL', lease)
  return 1
end

register('seal_event', seal_event)
register('read_event', read_event, READS)
register('queue_events', queue_events)
register('settle_event', settle_event)
register('replay_events', replay_events)
register('lease_endpoint', lease_endpoint)
register('release_endpoint', release_endpoint)
