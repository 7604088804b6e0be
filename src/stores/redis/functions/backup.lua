-- What a backup reads and what a check mends: each in one step, beside a service that goes on.

local function up_to(most, length, read)
  if length > tonumber(most) then return {} end
  return read()
end

-- Of what may be long: how much there is, and the first `most` of a list, or all of a hash that has no more than
-- `most`, or than `most_parts`.
local function export_thread(keys, args)
  local header, messages, queue, runs, run_order, parts, message_ids, due, outbox = unpack(keys)
  local uid, most, most_parts = unpack(args)
  local fields = redis.call('HMGET', header, 'slug', 'rev', 'fence', 'state', 'snapshot', 'catalog', 'run', 'createdAtMs', 'told')
  if not fields[1] then return false end
  local run_ids = redis.call('LRANGE', run_order, 0, most - 1)
  local part_count, claim_count = redis.call('HLEN', parts), redis.call('HLEN', message_ids)
  local told_count = fields[9] and redis.call('HLEN', outbox) or 0
  return {
    fields,
    redis.call('ZSCORE', due, uid),
    redis.call('LRANGE', queue, 0, -1),
    redis.call('LLEN', messages),
    redis.call('LRANGE', messages, 0, most - 1),
    redis.call('LLEN', run_order),
    run_ids,
    #run_ids > 0 and redis.call('HMGET', runs, unpack(run_ids)) or {},
    part_count,
    up_to(most_parts, part_count, function() return redis.call('HGETALL', parts) end),
    claim_count,
    up_to(most, claim_count, function() return redis.call('HGETALL', message_ids) end),
    told_count,
    up_to(most, told_count, function() return redis.call('HGETALL', outbox) end),
  }
end

local function export_user(keys, args)
  local user, names, days, users = unpack(keys)
  local user_id, most = unpack(args)
  local found = read_user(user)
  if not found then return false end
  local name_count = redis.call('HLEN', names)
  return {
    found,
    redis.call('ZSCORE', users, user_id),
    redis.call('HGETALL', days),
    name_count,
    up_to(most, name_count, function() return redis.call('HGETALL', names) end),
    redis.call('HGET', user, 'revocations'),
    content_keys_of(user),
  }
end

-- What must hold of a key for something to be mended beside it.
local TESTS = {
  present = function(key) return redis.call('EXISTS', key) == 1 end,
  absent = function(key) return redis.call('EXISTS', key) == 0 end,
  -- A hash that has this value.
  is = function(key, field, value) return redis.call('HGET', key, field) == value end,
  -- A member of a sorted set that stands there.
  scores = function(key, member, score) return redis.call('ZSCORE', key, member) == score end,
  -- A text that is this one.
  says = function(key, _, value) return redis.call('GET', key) == value end,
  -- A thread that waits for its page or for a person, in nobody's hands.
  rests = function(key)
    local found = redis.call('HMGET', key, 'state', 'fence')
    return (found[1] == 'awaiting' or found[1] == 'waiting_for_person') and not found[2]
  end,
}
TESTS.moves = function(key) return not TESTS.rests(key) end

-- What a check has found wrong, where it still is: the words that follow are a command on `target`.
local function mend(keys, args)
  local witness, target = unpack(keys)
  local test, field, value = unpack(args)
  if not TESTS[test](witness, field, value) then return 0 end
  redis.call(args[4], target, unpack(args, 5))
  return 1
end

register('mend', mend)
register('export_thread', export_thread, READS)
register('export_user', export_user, READS)
