-- Users of a channel: { id, external id, displayName, blocked, whitelisted }; their tokens; and whose a thread is.
--
-- Which user a token names is known only here, so the keys of that user are made here, from the channel's hash tag:
-- the same slot as the keys that were declared.

local function read_user(key)
  local user = redis.call('HMGET', key, 'id', 'external', 'name', 'blocked', 'whitelisted')
  return user[1] and user
end

-- External id and displayName are optional texts.
local function is_as_read(key, external, name, blocked, whitelisted)
  local user = read_user(key)
  return user
    and user[2] == optional(external)
    and user[3] == optional(name)
    and user[4] == blocked
    and user[5] == whitelisted
end

local function write_user(key, id, external, name, blocked, whitelisted)
  redis.call('DEL', key)
  redis.call('HSET', key, 'id', id, 'blocked', blocked, 'whitelisted', whitelisted)
  if external ~= '' then redis.call('HSET', key, 'external', optional(external)) end
  if name ~= '' then redis.call('HSET', key, 'name', optional(name)) end
end

-- Oldest first, also where two came in one millisecond: a thousand places for each.
local function list_user(users, id, at_ms)
  local first = tonumber(at_ms) * 1000
  local taken = redis.call('ZCOUNT', users, first, first + 999)
  redis.call('ZADD', users, string.format('%.0f', first + math.min(taken, 999)), id)
end

local function admission(tag, id, channel, name)
  local user = read_user('u:' .. tag .. ':' .. id)
  if not user then return false end
  local thread = name and redis.call('HGET', 'n:' .. tag .. ':' .. id, name)
  return { user, channel, thread }
end

local function mint_visitor(keys, args)
  local token, user, users = unpack(keys)
  local user_id, snapshot, ttl_ms, at_ms = unpack(args)
  redis.call('HSET', token, 'user', user_id, 'snapshot', snapshot)
  redis.call('PEXPIRE', token, ttl_ms)
  redis.call('HSET', user, 'id', user_id, 'blocked', '0', 'whitelisted', '0')
  list_user(users, user_id, at_ms)
  return 1
end

-- `thread_name` is optional.
local function admit_visitor(keys, args)
  local token, channel = unpack(keys)
  local tag, ttl_ms, thread_name = unpack(args)
  local known = redis.call('HMGET', token, 'user', 'snapshot')
  local state = redis.call('HMGET', channel, 'enabled', 'mode')
  if not known[1] or not state[1] then return false end
  local admitted = admission(tag, known[1], state, optional(thread_name))
  if not admitted then return false end
  redis.call('PEXPIRE', token, ttl_ms)
  admitted[4] = known[2]
  return admitted
end

-- `display_name`, `thread_name` and `new_uid` are optional.
local function admit_user(keys, args)
  local external, channel, users = unpack(keys)
  local tag, external_id, display_name, new_user_id, thread_name, new_uid, creates, at_ms = unpack(args)
  display_name, thread_name, new_uid = optional(display_name), optional(thread_name), optional(new_uid)
  local state = redis.call('HMGET', channel, 'enabled', 'mode')
  if not state[1] then return false end

  local id = redis.call('GET', external)
  if not id then
    if creates ~= '1' then return false end
    id = new_user_id
    redis.call('SET', external, id)
    redis.call('HSET', 'u:' .. tag .. ':' .. id, 'id', id, 'external', external_id, 'blocked', '0', 'whitelisted', '0')
    list_user(users, id, at_ms)
  end
  if creates == '1' then
    if display_name then redis.call('HSET', 'u:' .. tag .. ':' .. id, 'name', display_name) end
    if thread_name and new_uid then
      redis.call('HSETNX', 'n:' .. tag .. ':' .. id, thread_name, new_uid .. ' ' .. at_ms)
    end
  end
  return admission(tag, id, state, thread_name)
end

-- `entry`: the uid and the time.
local function add_thread(keys, args)
  local user, names = unpack(keys)
  local name, entry = unpack(args)
  if redis.call('EXISTS', user) == 0 then return 0 end
  redis.call('HSETNX', names, name, entry)
  return 1
end

local function spend_tokens(keys, args)
  local user, days = unpack(keys)
  local day, tokens = unpack(args)
  if redis.call('EXISTS', user) == 0 then return 0 end
  redis.call('HINCRBY', days, day, tokens)
  -- Only the present day is ever asked for: a month is kept, the oldest day goes.
  if redis.call('HLEN', days) > 31 then
    local known = redis.call('HKEYS', days)
    table.sort(known)
    redis.call('HDEL', days, known[1])
  end
  return 1
end

local function read_identity(keys, args)
  local token, external = unpack(keys)
  local tag = unpack(args)
  local known = redis.call('HMGET', token, 'user', 'snapshot')
  local account = redis.call('GET', external)
  return {
    known[1] and read_user('u:' .. tag .. ':' .. known[1]),
    known[2],
    account and read_user('u:' .. tag .. ':' .. account),
  }
end

-- The user as it was read: `was_…`.
local function promote(keys, args)
  local token, external, user = unpack(keys)
  local user_id, external_id, snapshot, was_external, was_name, was_blocked, was_whitelisted = unpack(args)
  if redis.call('HGET', token, 'user') ~= user_id or redis.call('EXISTS', external) == 1 then return 'changed' end
  if not is_as_read(user, was_external, was_name, was_blocked, was_whitelisted) then return 'changed' end
  redis.call('SET', external, user_id)
  redis.call('HSET', user, 'external', external_id)
  redis.call('HSET', token, 'snapshot', snapshot)
  return 'done'
end

-- The account's thread keeps a name that both have; the other one takes the first of NAME~2, NAME~3, … that neither
-- side has, so that a name without a rival is never touched.
local function move_names(from, into)
  local entries = redis.call('HGETALL', from)
  local names, threads = {}, {}
  for i = 1, #entries, 2 do
    names[#names + 1] = entries[i]
    threads[entries[i]] = entries[i + 1]
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local free, alias = name, 1
    while redis.call('HEXISTS', into, free) == 1 or (alias > 1 and threads[free]) do
      alias = alias + 1
      free = name .. '~' .. alias
    end
    redis.call('HSET', into, free, threads[name])
  end
  redis.call('DEL', from)
end

-- Both users as they were read, `from_…` and `into_…`, and the account as it shall be, `result_…`.
local function merge(keys, args)
  local token, users, from_user, from_names, from_days, into_user, into_names, into_days = unpack(keys)
  local from, into, snapshot,
    from_external, from_name, from_blocked, from_whitelisted,
    into_external, into_name, into_blocked, into_whitelisted,
    result_external, result_name, result_blocked, result_whitelisted = unpack(args)
  if from == into or redis.call('HGET', token, 'user') ~= from then return 'changed' end
  if not is_as_read(from_user, from_external, from_name, from_blocked, from_whitelisted) then return 'changed' end
  if not is_as_read(into_user, into_external, into_name, into_blocked, into_whitelisted) then return 'changed' end

  move_names(from_names, into_names)
  local days = redis.call('HGETALL', from_days)
  for i = 1, #days, 2 do redis.call('HINCRBY', into_days, days[i], days[i + 1]) end
  redis.call('DEL', from_days, from_user)
  redis.call('ZREM', users, from)
  write_user(into_user, into, result_external, result_name, result_blocked, result_whitelisted)
  redis.call('HSET', token, 'user', into, 'snapshot', snapshot)
  return 'done'
end

local function find_user(keys, args)
  local user, external = unpack(keys)
  local tag = unpack(args)
  local found = read_user(user)
  if found then return found end
  local id = redis.call('GET', external)
  return id and read_user('u:' .. tag .. ':' .. id)
end

-- Each flag is '' where it stays.
local function flag_user(keys, args)
  local user = unpack(keys)
  local blocked, whitelisted = unpack(args)
  if redis.call('EXISTS', user) == 0 then return false end
  if blocked ~= '' then redis.call('HSET', user, 'blocked', blocked) end
  if whitelisted ~= '' then redis.call('HSET', user, 'whitelisted', whitelisted) end
  return read_user(user)
end

register('mint_visitor', mint_visitor)
register('admit_visitor', admit_visitor)
register('admit_user', admit_user)
register('add_thread', add_thread)
register('spend_tokens', spend_tokens)
register('promote', promote)
register('merge', merge)
register('flag_user', flag_user)
register('read_identity', read_identity, READS)
register('find_user', find_user, READS)
