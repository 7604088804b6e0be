-- Everything inside a thread.

-- `runs`: active or last.
local function load_thread(keys, args)
  local header, messages, queue = unpack(keys)
  local budget, runs = unpack(args)
  local fields = redis.call('HMGET', header, 'slug', 'rev', 'fence', 'state', 'snapshot', 'catalog')
  if not fields[1] then return false end
  -- The answer's list ends at a nil; false is a null.
  fields[7] = (runs == 'last' or fields[4] ~= 'idle') and redis.call('HGET', header, 'run')
  local count = redis.call('LLEN', messages)
  local left, stop, chunk, tail = tonumber(budget), count, 8, {}
  while stop > 0 do
    local start = math.max(stop - chunk, 0)
    local entries = redis.call('LRANGE', messages, start, stop - 1)
    for i = #entries, 1, -1 do
      left = left - tonumber(head_of(entries[i]))
      if left < 0 and #tail > 0 then return { fields, count, redis.call('LLEN', queue), tail } end
      tail[#tail + 1] = body_of(entries[i])
    end
    stop = start
    chunk = math.min(chunk * 2, 256)
  end
  return { fields, count, redis.call('LLEN', queue), tail }
end

-- The run and text of the message that has this id, where there is one.
local function said_before(message_ids, client_message_id)
  return client_message_id ~= '' and redis.call('HGET', message_ids, client_message_id)
end

local function keep_run(runs, order, run, summary)
  if redis.call('HSET', runs, run, summary) == 1 then redis.call('RPUSH', order, run) end
end

local function keep_part(keys, args)
  local header, parts = unpack(keys)
  local fence, name, text = unpack(args)
  if redis.call('HGET', header, 'fence') ~= fence then return 0 end
  redis.call('HSET', parts, name, text)
  return 1
end

-- `own`: what the committer holds; `taken`: what the one it takes the thread from holds; `bar`: the committer's.
-- `heard_at_ms`: with a claim, when the committer was last heard of. `takes_from` and `starts` are optional, as are the
-- ended run, the deadline and the message's id with its claim, each '' where there is none. The messages follow the
-- named arguments.
local function commit(keys, args)
  local header, messages, queue, runs, run_order, due, own, taken, bar, message_ids = unpack(keys)
  local op, fence, heard_at_ms, takes_from, rev_read, uid, slug, at_ms, snapshot, state, run, starts, holds,
    deadline_ms, run_id, summary, ended_id, ended_summary, client_message_id, claim, message_count = unpack(args)
  local claims = heard_at_ms ~= ''
  takes_from, starts = optional(takes_from), optional(starts)
  local held_by, rev, last_op, last_op_next, last_state =
    unpack(redis.call('HMGET', header, 'fence', 'rev', 'op', 'opNext', 'state'))
  rev = rev or '0'
  local catalog = starts and redis.call('HGET', header, 'catalog')

  if last_op == op then
    -- Nothing was committed since, so a waiting message that was at the head still is.
    local first = last_op_next == '1' and redis.call('LINDEX', queue, 0)
    return { 'committed', rev, first and body_of(first), catalog }
  end
  local said = said_before(message_ids, client_message_id)
  if said then return { 'said-before', said } end
  if held_by and held_by ~= fence and held_by ~= takes_from then return { 'fenced' } end
  if not claims and held_by ~= fence then return { 'fenced' } end
  if rev ~= rev_read then return { 'changed' } end
  if claims and is_barred(bar, heard_at_ms) then return { 'barred' } end
  if starts then
    local first = redis.call('LINDEX', queue, 0)
    if not first or head_of(first) ~= starts then return { 'changed' } end
    redis.call('LPOP', queue)
  end

  if rev == '0' then
    redis.call('HSETNX', header, 'slug', slug)
    redis.call('HSETNX', header, 'createdAtMs', at_ms)
  end
  rev = string.format('%.0f', tonumber(rev) + 1)
  local first = redis.call('LINDEX', queue, 0)
  holds = holds == '1' or first
  local fields = { 'rev', rev, 'snapshot', snapshot, 'state', state, 'run', run, 'op', op,
    'opNext', first and '1' or '0' }
  if holds then
    fields[#fields + 1] = 'fence'
    fields[#fields + 1] = fence
  end
  redis.call('HSET', header, unpack(fields))
  for i = #args - tonumber(message_count) + 1, #args do redis.call('RPUSH', messages, args[i]) end
  if client_message_id ~= '' then redis.call('HSET', message_ids, client_message_id, claim) end
  if ended_id ~= '' then keep_run(runs, run_order, ended_id, ended_summary) end
  keep_run(runs, run_order, run_id, summary)

  if held_by and held_by ~= fence then redis.call('HDEL', taken, uid) end
  if holds then
    if held_by ~= fence then redis.call('HSET', own, uid, fence) end
  elseif held_by then
    redis.call('HDEL', header, 'fence')
    redis.call('HDEL', own, uid)
  end
  if not holds and state == 'awaiting' and deadline_ms ~= '' then
    redis.call('ZADD', due, deadline_ms, uid)
  elseif last_state == 'awaiting' then
    redis.call('ZREM', due, uid)
  end
  return { 'committed', rev, first and body_of(first), catalog }
end

-- Once only for each run: a repeat after a lost answer finds the message waiting, or its run begun.
local function wait_in_queue(keys, args)
  local header, queue, runs, message_ids = unpack(keys)
  local run_id, entry, max, client_message_id, claim = unpack(args)
  local said = said_before(message_ids, client_message_id)
  if said then return { 'said-before', said } end
  local fence = redis.call('HGET', header, 'fence')
  if not fence then return { 'free' } end
  if redis.call('HEXISTS', runs, run_id) == 1 then return { 'waiting', fence } end
  local waiting = redis.call('LRANGE', queue, 0, -1)
  for _, other in ipairs(waiting) do
    if head_of(other) == run_id then return { 'waiting', fence } end
  end
  if #waiting >= tonumber(max) then return { 'full', fence } end
  redis.call('RPUSH', queue, entry)
  if client_message_id ~= '' then redis.call('HSET', message_ids, client_message_id, claim) end
  return { 'waiting', fence }
end

local function list_runs(keys, args)
  local runs, run_order = unpack(keys)
  local limit = unpack(args)
  local ids = redis.call('LRANGE', run_order, -tonumber(limit), -1)
  if #ids == 0 then return {} end
  return redis.call('HMGET', runs, unpack(ids))
end

register('commit', commit)
register('keep_part', keep_part)
register('wait_in_queue', wait_in_queue)
register('load_thread', load_thread, READS)
register('list_runs', list_runs, READS)
