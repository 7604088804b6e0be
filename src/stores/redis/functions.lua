-- What the store does inside Redis: each function is one atomic step on one key slot.
--
-- Loaded with a first line that names the library and sets VERSION, the hash of this text: libraries are never
-- replaced, so two versions of the service run side by side.
--
-- Arguments and answers are flat texts. Optional texts travel as '' (none) or '=' and the text; a field that is not
-- there is a null. Lists hold entries of a head, a newline and JSON, so that no JSON is read here: a message's head is
-- the length of its content, a waiting message's head its run.
--
-- Which user a token names is known only here, so the keys of that user are made here, from the channel's hash tag:
-- the same slot as the keys that were declared.

local function optional(text)
  if text == '' then return false end
  return string.sub(text, 2)
end

local function head_of(entry)
  return string.sub(entry, 1, string.find(entry, '\n', 1, true) - 1)
end

local function body_of(entry)
  return string.sub(entry, string.find(entry, '\n', 1, true) + 1)
end

-- Users: { id, external id, displayName, blocked, whitelisted }

local function read_user(key)
  local user = redis.call('HMGET', key, 'id', 'external', 'name', 'blocked', 'whitelisted')
  return user[1] and user
end

-- Four arguments from `first` on: external id and displayName, both optional, blocked, whitelisted.
local function is_as_read(key, args, first)
  local user = read_user(key)
  return user
    and user[2] == optional(args[first])
    and user[3] == optional(args[first + 1])
    and user[4] == args[first + 2]
    and user[5] == args[first + 3]
end

local function write_user(key, id, args, first)
  local external, name = optional(args[first]), optional(args[first + 1])
  redis.call('DEL', key)
  redis.call('HSET', key, 'id', id, 'blocked', args[first + 2], 'whitelisted', args[first + 3])
  if external then redis.call('HSET', key, 'external', external) end
  if name then redis.call('HSET', key, 'name', name) end
end

-- Oldest first, also where two came in one millisecond: a thousand places for each.
local function list_user(users, id, at_ms)
  local first = at_ms * 1000
  local taken = redis.call('ZCOUNT', users, first, first + 999)
  redis.call('ZADD', users, string.format('%.0f', first + math.min(taken, 999)), id)
end

local function admission(tag, id, channel, name)
  local user = read_user('u:' .. tag .. ':' .. id)
  if not user then return false end
  local thread = name and redis.call('HGET', 'n:' .. tag .. ':' .. id, name)
  return { user, channel, thread }
end

-- keys: token, user, users; args: user id, snapshot, ttl, time
local function mint_visitor(keys, args)
  redis.call('HSET', keys[1], 'user', args[1], 'snapshot', args[2])
  redis.call('PEXPIRE', keys[1], args[3])
  redis.call('HSET', keys[2], 'id', args[1], 'blocked', '0', 'whitelisted', '0')
  list_user(keys[3], args[1], tonumber(args[4]))
  return 1
end

-- keys: token, channel; args: tag, ttl, thread name (optional)
local function admit_visitor(keys, args)
  local token = redis.call('HMGET', keys[1], 'user', 'snapshot')
  local channel = redis.call('HMGET', keys[2], 'enabled', 'mode')
  if not token[1] or not channel[1] then return false end
  local admitted = admission(args[1], token[1], channel, optional(args[3]))
  if not admitted then return false end
  redis.call('PEXPIRE', keys[1], args[2])
  admitted[4] = token[2]
  return admitted
end

-- keys: external id, channel, users
-- args: tag, external id, displayName (optional), new user id, thread name and new uid (optional), creates, time
local function admit_user(keys, args)
  local tag, display_name, creates = args[1], optional(args[3]), args[7] == '1'
  local name, new_uid = optional(args[5]), optional(args[6])
  local channel = redis.call('HMGET', keys[2], 'enabled', 'mode')
  if not channel[1] then return false end

  local id = redis.call('GET', keys[1])
  if not id then
    if not creates then return false end
    id = args[4]
    redis.call('SET', keys[1], id)
    redis.call('HSET', 'u:' .. tag .. ':' .. id, 'id', id, 'external', args[2], 'blocked', '0', 'whitelisted', '0')
    list_user(keys[3], id, tonumber(args[8]))
  end
  if creates and display_name then redis.call('HSET', 'u:' .. tag .. ':' .. id, 'name', display_name) end
  if creates and name and new_uid then
    redis.call('HSETNX', 'n:' .. tag .. ':' .. id, name, new_uid .. ' ' .. args[8])
  end
  return admission(tag, id, channel, name)
end

-- keys: user, names; args: name, uid and time
local function add_thread(keys, args)
  if redis.call('EXISTS', keys[1]) == 0 then return 0 end
  redis.call('HSETNX', keys[2], args[1], args[2])
  return 1
end

-- keys: user, days; args: day, tokens
local function spend_tokens(keys, args)
  if redis.call('EXISTS', keys[1]) == 0 then return 0 end
  redis.call('HINCRBY', keys[2], args[1], args[2])
  -- Only the present day is ever asked for: a month is kept, the oldest day goes.
  if redis.call('HLEN', keys[2]) > 31 then
    local days = redis.call('HKEYS', keys[2])
    table.sort(days)
    redis.call('HDEL', keys[2], days[1])
  end
  return 1
end

-- keys: token, external id; args: tag
local function read_identity(keys, args)
  local token = redis.call('HMGET', keys[1], 'user', 'snapshot')
  local account = redis.call('GET', keys[2])
  return {
    token[1] and read_user('u:' .. args[1] .. ':' .. token[1]),
    token[2],
    account and read_user('u:' .. args[1] .. ':' .. account),
  }
end

-- keys: token, external id, user; args: user id, external id, snapshot, the user as read (4)
local function promote(keys, args)
  if redis.call('HGET', keys[1], 'user') ~= args[1] then return 'changed' end
  if redis.call('EXISTS', keys[2]) == 1 or not is_as_read(keys[3], args, 4) then return 'changed' end
  redis.call('SET', keys[2], args[1])
  redis.call('HSET', keys[3], 'external', args[2])
  redis.call('HSET', keys[1], 'snapshot', args[3])
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

-- keys: token, users, and of both sides user, names, days
-- args: both user ids, snapshot, from as read (4), into as read (4), the result (4)
local function merge(keys, args)
  local from, into = args[1], args[2]
  if from == into or redis.call('HGET', keys[1], 'user') ~= from then return 'changed' end
  if not is_as_read(keys[3], args, 4) or not is_as_read(keys[6], args, 8) then return 'changed' end

  move_names(keys[4], keys[7])
  local days = redis.call('HGETALL', keys[5])
  for i = 1, #days, 2 do redis.call('HINCRBY', keys[8], days[i], days[i + 1]) end
  redis.call('DEL', keys[5], keys[3])
  redis.call('ZREM', keys[2], from)
  write_user(keys[6], into, args, 12)
  redis.call('HSET', keys[1], 'user', into, 'snapshot', args[3])
  return 'done'
end

-- keys: user, external id; args: tag
local function find_user(keys, args)
  local user = read_user(keys[1])
  if user then return user end
  local id = redis.call('GET', keys[2])
  return id and read_user('u:' .. args[1] .. ':' .. id)
end

-- keys: user; args: blocked, whitelisted, each '' where it stays
local function flag_user(keys, args)
  if redis.call('EXISTS', keys[1]) == 0 then return false end
  if args[1] ~= '' then redis.call('HSET', keys[1], 'blocked', args[1]) end
  if args[2] ~= '' then redis.call('HSET', keys[1], 'whitelisted', args[2]) end
  return read_user(keys[1])
end

-- Channels and addresses: a member comes into a set or leaves it, and every instance is told.
-- keys: set, change count; args: SADD or SREM, member, whether it is news also when the set stays as it is
local function change_set(keys, args)
  local changed = redis.call(args[1], keys[1], args[2])
  if changed == 1 or args[3] == '1' then
    redis.call('INCR', keys[2])
    redis.call('PUBLISH', keys[2], '')
  end
  return changed
end

-- Threads

-- keys: header, messages, queue; args: budget, which runs: active or last
local function load_thread(keys, args)
  local header = redis.call('HMGET', keys[1], 'slug', 'rev', 'fence', 'state', 'snapshot', 'catalog')
  if not header[1] then return false end
  -- The answer's list ends at a nil; false is a null.
  header[7] = (args[2] == 'last' or header[4] ~= 'idle') and redis.call('HGET', keys[1], 'run')
  local count = redis.call('LLEN', keys[2])
  local left, stop, chunk, tail = tonumber(args[1]), count, 8, {}
  while stop > 0 do
    local start = math.max(stop - chunk, 0)
    local entries = redis.call('LRANGE', keys[2], start, stop - 1)
    for i = #entries, 1, -1 do
      left = left - tonumber(head_of(entries[i]))
      if left < 0 and #tail > 0 then return { header, count, redis.call('LLEN', keys[3]), tail } end
      tail[#tail + 1] = body_of(entries[i])
    end
    stop = start
    chunk = math.min(chunk * 2, 256)
  end
  return { header, count, redis.call('LLEN', keys[3]), tail }
end

-- A process that was found silent may claim again once it was heard of since: nobody looks for what a forgotten one holds.
local function is_barred(bar, heard_at_ms)
  local until_ms = redis.call('GET', bar)
  return until_ms and tonumber(heard_at_ms) <= tonumber(until_ms)
end

-- The run and text of the message that has this id, where there is one.
local function said_before(claims, client_message_id)
  return client_message_id ~= '' and redis.call('HGET', claims, client_message_id)
end

local function keep_run(runs, order, run, summary)
  if redis.call('HSET', runs, run, summary) == 1 then redis.call('RPUSH', order, run) end
end

-- keys: header, parts; args: fence, name, text
local function keep_part(keys, args)
  if redis.call('HGET', keys[1], 'fence') ~= args[1] then return 0 end
  redis.call('HSET', keys[2], args[2], args[3])
  return 1
end

-- keys: header, messages, queue, runs, order of runs, deadlines, what the committer holds, what takesFrom holds, the
-- committer's bar, message ids
-- args: see commitArguments in threads.ts; the messages follow from 21 on
local function commit(keys, args)
  local header_key, queue = keys[1], keys[3]
  local op, fence, claims, takes_from, uid = args[1], args[2], args[3] ~= '', optional(args[4]), args[6]
  local header = redis.call('HMGET', header_key, 'fence', 'rev', 'op', 'opNext', 'state')
  local held_by, rev = header[1], header[2] or '0'

  if header[3] == op then
    -- Nothing was committed since, so a waiting message that was at the head still is.
    local first = header[4] == '1' and redis.call('LINDEX', queue, 0)
    return { 'committed', rev, first and body_of(first) }
  end
  local said = said_before(keys[10], args[19])
  if said then return { 'said-before', said } end
  if held_by and held_by ~= fence and held_by ~= takes_from then return { 'fenced' } end
  if not claims and held_by ~= fence then return { 'fenced' } end
  if rev ~= args[5] then return { 'changed' } end
  if claims and is_barred(keys[9], args[3]) then return { 'barred' } end
  local starts = optional(args[12])
  if starts then
    local first = redis.call('LINDEX', queue, 0)
    if not first or head_of(first) ~= starts then return { 'changed' } end
    redis.call('LPOP', queue)
  end

  if rev == '0' then
    redis.call('HSETNX', header_key, 'slug', args[7])
    redis.call('HSETNX', header_key, 'createdAtMs', args[8])
  end
  rev = string.format('%.0f', tonumber(rev) + 1)
  local first = redis.call('LINDEX', queue, 0)
  local holds = args[13] == '1' or first
  local fields = { 'rev', rev, 'snapshot', args[9], 'state', args[10], 'run', args[11], 'op', op,
    'opNext', first and '1' or '0' }
  if holds then
    fields[#fields + 1] = 'fence'
    fields[#fields + 1] = fence
  end
  redis.call('HSET', header_key, unpack(fields))
  for i = 21, #args do redis.call('RPUSH', keys[2], args[i]) end
  if args[19] ~= '' then redis.call('HSET', keys[10], args[19], args[20]) end
  if args[17] ~= '' then keep_run(keys[4], keys[5], args[17], args[18]) end
  keep_run(keys[4], keys[5], args[15], args[16])

  if held_by and held_by ~= fence then redis.call('HDEL', keys[8], uid) end
  if holds then
    if held_by ~= fence then redis.call('HSET', keys[7], uid, fence) end
  elseif held_by then
    redis.call('HDEL', header_key, 'fence')
    redis.call('HDEL', keys[7], uid)
  end
  if not holds and args[10] == 'awaiting' and args[14] ~= '' then
    redis.call('ZADD', keys[6], args[14], uid)
  elseif header[5] == 'awaiting' then
    redis.call('ZREM', keys[6], uid)
  end
  return { 'committed', rev, first and body_of(first) }
end

-- Once only for each run: a repeat after a lost answer finds the message waiting, or its run begun.
-- keys: header, queue, runs, message ids; args: run, entry, max, client message id ('' for none), its claim
local function wait_in_queue(keys, args)
  local said = said_before(keys[4], args[4])
  if said then return { 'said-before', said } end
  local fence = redis.call('HGET', keys[1], 'fence')
  if not fence then return { 'free' } end
  if redis.call('HEXISTS', keys[3], args[1]) == 1 then return { 'waiting', fence } end
  local waiting = redis.call('LRANGE', keys[2], 0, -1)
  for _, other in ipairs(waiting) do
    if head_of(other) == args[1] then return { 'waiting', fence } end
  end
  if #waiting >= tonumber(args[3]) then return { 'full', fence } end
  redis.call('RPUSH', keys[2], args[2])
  if args[4] ~= '' then redis.call('HSET', keys[4], args[4], args[5]) end
  return { 'waiting', fence }
end

-- keys: runs, order of runs; args: limit
local function list_runs(keys, args)
  local runs = redis.call('LRANGE', keys[2], -tonumber(args[1]), -1)
  if #runs == 0 then return {} end
  return redis.call('HMGET', keys[1], unpack(runs))
end

-- keys: instances; args: process, ttl. By the clock of Redis, which is one for all processes.
local function beat(keys, args)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local now_text, silent_before = string.format('%.0f', now), string.format('(%.0f', now - tonumber(args[2]))
  redis.call('ZADD', keys[1], now_text, args[1])
  return { now_text, redis.call('ZRANGEBYSCORE', keys[1], '-inf', silent_before, 'WITHSCORES') }
end

-- From now on a process claims nothing in this bucket on a beat that is no later than the one it was found silent by.
-- keys: what it holds, its bar; args: the time of that look, how long the bar is kept
local function bar(keys, args)
  if redis.call('EXISTS', keys[1]) == 1 then return 0 end
  if not is_barred(keys[2], args[1]) then redis.call('SET', keys[2], args[1], 'PX', args[2]) end
  return 1
end

-- keys: instances; args: process, when it was last heard of
local function forget(keys, args)
  if redis.call('ZSCORE', keys[1], args[1]) ~= args[2] then return 0 end
  return redis.call('ZREM', keys[1], args[1])
end

local function register(name, callback, flags)
  redis.register_function({ function_name = name .. '_' .. VERSION, callback = callback, flags = flags or {} })
end

register('mint_visitor', mint_visitor)
register('admit_visitor', admit_visitor)
register('admit_user', admit_user)
register('add_thread', add_thread)
register('spend_tokens', spend_tokens)
register('promote', promote)
register('merge', merge)
register('flag_user', flag_user)
register('change_set', change_set)
register('commit', commit)
register('keep_part', keep_part)
register('wait_in_queue', wait_in_queue)
register('beat', beat)
register('bar', bar)
register('forget', forget)

local reads = { 'no-writes' }
register('read_identity', read_identity, reads)
register('find_user', find_user, reads)
register('load_thread', load_thread, reads)
register('list_runs', list_runs, reads)
