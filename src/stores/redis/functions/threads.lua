-- Everything inside a thread.

-- The newest messages among the first `stop`, at most `limit`, whose contents fit the budget, at least one; newest first.
-- Whole entries: to cut the heads off here costs a load a third of its time.
local function newest_within(messages, stop, limit, budget)
  local left, chunk, newest = budget, 8, {}
  while stop > 0 do
    local start = math.max(stop - chunk, 0)
    local entries = redis.call('LRANGE', messages, start, stop - 1)
    for i = #entries, 1, -1 do
      left = left - (tonumber(head_of(entries[i])) or 0)
      if #newest == limit or (left < 0 and #newest > 0) then return newest end
      newest[#newest + 1] = entries[i]
    end
    stop = start
    chunk = math.min(chunk * 2, 256)
  end
  return newest
end

-- The fence of a tombstone: a thread that was deleted is held by nobody, for good.
local DELETED = 'deleted:'

local function is_deleted(fence)
  return fence and string.sub(fence, 1, #DELETED) == DELETED
end

-- `runs`: active or last.
local function load_thread(keys, args)
  local header, messages, queue = unpack(keys)
  local budget, runs = unpack(args)
  local fields = redis.call('HMGET', header, 'slug', 'rev', 'fence', 'state', 'snapshot', 'catalog', 'op')
  if not fields[1] then return false end
  -- The answer's list ends at a nil; false is a null.
  fields[8] = (runs == 'last' or fields[4] ~= 'idle') and redis.call('HGET', header, 'run')
  local count = redis.call('LLEN', messages)
  local tail = newest_within(messages, count, math.huge, tonumber(budget))
  return { fields, count, redis.call('LLEN', queue), tail }
end

local function keep_part(keys, args)
  local header, parts = unpack(keys)
  local fence, name, text = unpack(args)
  if redis.call('HGET', header, 'fence') ~= fence then return 0 end
  redis.call('HSET', parts, name, text)
  return 1
end

-- Of a message that is not stored yet: by no fence.
local function keep_images(keys, args)
  local header, parts = unpack(keys)
  local name, images = unpack(args)
  if is_deleted(redis.call('HGET', header, 'fence')) then return 0 end
  redis.call('HSET', parts, name, images)
  return 1
end

local function set_catalog(keys, args)
  local header = unpack(keys)
  local slug, catalog = unpack(args)
  if is_deleted(redis.call('HGET', header, 'fence')) then return 0 end
  redis.call('HSET', header, 'slug', slug, 'catalog', catalog)
  return 1
end

-- The run and text of the message that has this id, where there is one.
local function said_before(message_ids, client_message_id)
  return client_message_id ~= '' and redis.call('HGET', message_ids, client_message_id)
end

-- Do these entries, which have `place` others before them, end the list already? So a commit left it that was stopped.
local function ends_with(messages, place, entries)
  if #entries == 0 then return true end
  if redis.call('LLEN', messages) ~= tonumber(place) + #entries then return false end
  for i, entry in ipairs(redis.call('LRANGE', messages, -#entries, -1)) do
    if entry ~= entries[i] then return false end
  end
  return true
end

-- Lists a run where it is not listed yet. `repeats`: asked again, so that the answer of HSET does not tell.
local function keep_run(runs, run_order, run_id, summary, repeats, is_listed)
  local is_new = redis.call('HSET', runs, run_id, summary) == 1
  if repeats then is_new = not is_listed end
  if is_new then redis.call('RPUSH', run_order, run_id) end
end

-- Nobody holds the thread, and what it waits for has a deadline.
local function waits_alone(state)
  return state == 'awaiting' or state == 'waiting_for_person'
end

-- What webhooks are to be told of a thread, and is queued for none of them yet: few, for whoever commits queues it at once.
local function unqueued_of(unqueued, thread, told)
  local found = {}
  for _, event in ipairs(redis.call('ZRANGE', unqueued, 0, 255)) do
    local is_its = string.sub(event, 1, #thread) == thread
    if is_its and tonumber(string.match(event, '^%d+', #thread + 1)) <= told then found[#found + 1] = event end
  end
  return found
end

-- The commit is made by its one HSET of the header. What is written before that means nothing without it, and is as it
-- was when the same commit comes again; what is written after it, a repeat makes up for: it finds its `op` in the header.
--
-- `own`: what the committer, `holder`, holds; `taken`: what the one it takes the thread from holds; `bar`: the committer's;
-- `holders`: who may hold something here. `stamp`: with a claim, the committer's last heartbeat. `read_op`: the last
-- operation that a claim was decided on, '' for none: a failover sets the revision back, and it grows to the same number
-- again. `takes_from` and `starts` are optional, as are the ended run, the deadline and the message's id with its claim,
-- each '' where there is none; `run` with its id and summary is '' where the one that is stored stays. The messages follow the named arguments; `message_place` is how many have their places
-- before them. Before the messages stands what webhooks are told (outbox.lua): `tell_count` events in `entry_count` entries, each
-- the event's place among them, an endpoint and a text. With none, `outbox` and `unqueued` are any key.
local function commit(keys, args)
  local header, messages, queue, runs, run_order, due, own, taken, bar, holders, message_ids, watchers,
    outbox, unqueued = unpack(keys)
  local op, fence, holder, stamp, takes_from, rev_read, read_op, uid, slug, at_ms, snapshot, state, run, starts, holds,
    deadline_ms, run_id, summary, ended_id, ended_summary, client_message_id, claim, message_place,
    message_count, tell_count, entry_count = unpack(args)
  local claims = stamp ~= ''
  takes_from, starts, holds = optional(takes_from), optional(starts), holds == '1'

  local held_by, rev, last_op, last_op_next, last_state, known_slug, created_at_ms, told =
    unpack(redis.call('HMGET', header, 'fence', 'rev', 'op', 'opNext', 'state', 'slug', 'createdAtMs', 'told'))
  if is_deleted(held_by) then return { 'deleted' } end
  rev = rev or '0'
  local watching = redis.call('ZRANGE', watchers, 0, -1)
  local catalog = starts and redis.call('HGET', header, 'catalog')
  local first = redis.call('LINDEX', queue, 0)
  local repeats = last_op == op
  -- What a stopped commit has written is written again.
  local counted = repeats and math.huge or tonumber(told or '0')
  local tellings = entry_count ~= '0' and unqueued_of(unqueued, slug .. ' ' .. uid .. ' ', counted)
  if repeats and redis.call('HGET', header, 'snapshot') ~= snapshot then
    -- Another commit under the same name: the first one's answer, and nothing to make up for.
    return { 'committed', rev, last_op_next == '1' and first and body_of(first), catalog, watching, tellings }
  end

  -- The message that waits, without the one that is started.
  local is_at_head, next = starts and first and head_of(first) == starts, first
  if is_at_head then next = redis.call('LINDEX', queue, 1) end
  -- Who joined after the commit is not in its answer, unless the thread is still to be released.
  if repeats and last_op_next ~= '1' and (holds or held_by ~= fence) then next = false end
  holds = holds or next
  local rests = waits_alone(state) and not holds and deadline_ms ~= ''
  local is_listed = repeats and run_id ~= '' and redis.call('LPOS', run_order, run_id)
  local is_ended_listed = repeats and ended_id ~= '' and redis.call('LPOS', run_order, ended_id)

  if not repeats then
    local said = said_before(message_ids, client_message_id)
    if said then return { 'said-before', said } end
    if held_by and held_by ~= fence and held_by ~= takes_from then return { 'fenced' } end
    if not claims and held_by ~= fence then return { 'fenced' } end
    if rev ~= rev_read then return { 'changed' } end
    if claims and (last_op or '') ~= read_op then return { 'changed' } end
    local until_ms = claims and barred_until(bar, stamp)
    if until_ms then return { 'barred', until_ms } end
    if starts and not is_at_head then return { 'changed' } end
    local entries = { unpack(args, #args - tonumber(message_count) + 1) }
    local is_appended = ends_with(messages, message_place, entries)

    if not is_appended then redis.call('RPUSH', messages, unpack(entries)) end
    if holds and held_by ~= fence then
      -- Listed before it holds: whoever holds something here is on the list. A release does not take it off.
      redis.call('SADD', holders, holder)
      redis.call('HSET', own, uid, fence)
    end
    if rests then redis.call('ZADD', due, deadline_ms, uid) end
    if tellings then
      local first_entry = #args - tonumber(message_count) - 3 * tonumber(entry_count) + 1
      for i = first_entry, first_entry + 3 * tonumber(entry_count) - 1, 3 do
        local event = string.format('%.0f', tonumber(told or '0') + tonumber(args[i])) .. ' ' .. args[i + 1]
        tellings[#tellings + 1] = slug .. ' ' .. uid .. ' ' .. event
        redis.call('HSET', outbox, event, args[i + 2])
        redis.call('ZADD', unqueued, at_ms, tellings[#tellings])
      end
    end
    rev = string.format('%.0f', tonumber(rev) + 1)
    local fields = { 'rev', rev, 'snapshot', snapshot, 'state', state, 'op', op, 'opNext', next and '1' or '0' }
    local function add(name, value)
      fields[#fields + 1] = name
      fields[#fields + 1] = value
    end
    if run ~= '' then add('run', run) end
    if holds then add('fence', fence) end
    if tellings then add('told', string.format('%.0f', tonumber(told or '0') + tonumber(tell_count))) end
    if not known_slug then add('slug', slug) end
    if not created_at_ms then add('createdAtMs', at_ms) end
    redis.call('HSET', header, unpack(fields))
  end

  if client_message_id ~= '' then redis.call('HSET', message_ids, client_message_id, claim) end
  if is_at_head then redis.call('LPOP', queue) end
  if ended_id ~= '' then keep_run(runs, run_order, ended_id, ended_summary, repeats, is_ended_listed) end
  if run_id ~= '' then keep_run(runs, run_order, run_id, summary, repeats, is_listed) end
  if held_by and not holds then redis.call('HDEL', header, 'fence') end
  if (held_by or repeats) and not holds then redis.call('HDEL', own, uid) end
  -- The hold of a fence of this process's own is the one that was just written, or removed.
  if takes_from and taken ~= own and (held_by == takes_from or repeats) then redis.call('HDEL', taken, uid) end
  if not rests and (waits_alone(last_state) or repeats) then redis.call('ZREM', due, uid) end
  return { 'committed', rev, next and body_of(next), catalog, watching, tellings }
end

-- Once only for each run: a repeat after a lost answer finds the message waiting, or its run begun.
local function wait_in_queue(keys, args)
  local header, queue, runs, message_ids = unpack(keys)
  local run_id, entry, max, client_message_id, claim = unpack(args)
  local fence = redis.call('HGET', header, 'fence')
  if is_deleted(fence) then return { 'deleted' } end
  local said = said_before(message_ids, client_message_id)
  if said then return { 'said-before', said } end
  if not fence then return { 'free' } end
  local waits = redis.call('HEXISTS', runs, run_id) == 1
  local waiting = redis.call('LRANGE', queue, 0, -1)
  for _, other in ipairs(waiting) do waits = waits or head_of(other) == run_id end
  if not waits then
    if #waiting >= tonumber(max) then return { 'full', fence } end
    redis.call('RPUSH', queue, entry)
  end
  if client_message_id ~= '' then redis.call('HSET', message_ids, client_message_id, claim) end
  return { 'waiting', fence }
end

-- Puts a message with another rating, `after`, in the place of `before`. By no fence: who holds the thread only adds to its
-- messages. `op` tells a repeat from somebody who says the same; the header's `rated` has it, with how many events are told by then. What webhooks are told follows as in a commit; with
-- nothing, `outbox` and `unqueued` are any key.
local function rate_message(keys, args)
  local header, messages, outbox, unqueued = unpack(keys)
  local op, uid, at_ms, place, before, after, tell_count = unpack(args)
  local fence, slug, told, rated = unpack(redis.call('HMGET', header, 'fence', 'slug', 'told', 'rated'))
  if not slug or is_deleted(fence) then return { 'not-found' } end
  told = tonumber(told or '0')
  local rated_op, rated_told = string.match(rated or '', '^(%S+) (%d+)$')
  local entry = redis.call('LINDEX', messages, place)
  local repeats = entry == after and rated_op == op
  if entry ~= before and not repeats then return { 'changed' } end
  local tells = tell_count ~= '0'
  local thread = slug .. ' ' .. uid .. ' '
  local last = repeats and tonumber(rated_told) or told + tonumber(tell_count)
  local tellings = tells and unqueued_of(unqueued, thread, repeats and last or told) or {}

  if not repeats then
    for i = 8, #args, 3 do
      local event = string.format('%.0f', told + tonumber(args[i])) .. ' ' .. args[i + 1]
      tellings[#tellings + 1] = thread .. event
      redis.call('HSET', outbox, event, args[i + 2])
      redis.call('ZADD', unqueued, at_ms, tellings[#tellings])
    end
    redis.call('HSET', header, 'rated', op .. ' ' .. string.format('%.0f', last))
    redis.call('LSET', messages, place, after)
  end
  if last > told then redis.call('HSET', header, 'told', string.format('%.0f', last)) end
  return { 'rated', tellings }
end

-- `place`: of the first message after the page, counted from 1; '' for the end of the list.
local function read_page(keys, args)
  local messages = unpack(keys)
  local limit, place, budget = unpack(args)
  local count = redis.call('LLEN', messages)
  place = optional(place)
  if not place then return newest_within(messages, count, tonumber(limit), tonumber(budget)) end
  if tonumber(place) > count then return {} end
  return newest_within(messages, tonumber(place) - 1, tonumber(limit), tonumber(budget))
end

local function list_runs(keys, args)
  local runs, run_order = unpack(keys)
  local limit = unpack(args)
  local ids = redis.call('LRANGE', run_order, -tonumber(limit), -1)
  if #ids == 0 then return {} end
  return redis.call('HMGET', runs, unpack(ids))
end

-- When an item came into the history last, as far as it says so.
local function last_item_at(messages)
  local last = redis.call('LINDEX', messages, -1)
  return last and string.match(last, '"createdAtMs":(%d+)')
end

-- The state, the last run, how many items the history has, of those behind the first `from` as many as fit (at least one),
-- the last commit, and what tells of a person who has the thread or is waited for. `from`: '' for none of the items. The
-- state of a thread that was deleted is 'deleted'.
local function look_at_thread(keys, args)
  local header, messages, run_order = unpack(keys)
  local from, most, budget = unpack(args)
  local left, found = tonumber(budget), {}
  local items = from == '' and {} or redis.call('LRANGE', messages, from, tonumber(from) + tonumber(most) - 1)
  for _, item in ipairs(items) do
    left = left - (tonumber(head_of(item)) or 0)
    if left < 0 and #found > 0 then break end
    found[#found + 1] = item
  end
  local state, op, snapshot, fence = unpack(redis.call('HMGET', header, 'state', 'op', 'snapshot', 'fence'))
  if is_deleted(fence) then return { 'deleted', false, 0, {}, op } end
  local is_persons = state == 'waiting_for_person' or state == 'with_person'
  local last_run = redis.call('LINDEX', run_order, -1)
  return { state, last_run, redis.call('LLEN', messages), found, op, is_persons and snapshot }
end

-- Lists a process among those that are told of commits, and drops those whose time is over.
local function watch_thread(keys, args)
  local watchers = unpack(keys)
  local process_id, kept_ms = unpack(args)
  local now = now_ms()
  redis.call('ZADD', watchers, string.format('%.0f', now + kept_ms), process_id)
  redis.call('ZREMRANGEBYSCORE', watchers, '-inf', string.format('%.0f', now))
  redis.call('PEXPIRE', watchers, kept_ms)
  return 1
end

-- What a list of threads shows of one.
local function glance_thread(keys, args)
  local header, messages = unpack(keys)
  local state, snapshot = unpack(redis.call('HMGET', header, 'state', 'snapshot'))
  return { state, last_item_at(messages) or false, snapshot }
end

-- Puts the tombstone into the header, and removes all else. `fence`: by which the thread is held, '' for none, and `own` what
-- its holder holds; answers 'moved' with the right one where it is another. The tombstone keeps it for a repeat. It has an
-- `op` of its own, so that who asks for the last commit finds that something happened. Where an earlier version's instance
-- wrote beside the tombstone, the same call removes that. The watchers, which expire, are told, and stay. `if_rev`: only while
-- that is its revision, '' for any; 'changed' where it is another.
local function erase_thread(keys, args)
  local header, messages, queue, runs, run_order, parts, message_ids, watchers, aside, due, own,
    outbox = unpack(keys)
  local uid, fence, at_ms, if_rev = unpack(args)
  local held_by, rev, last = unpack(redis.call('HMGET', header, 'fence', 'rev', 'last'))
  local deleted = is_deleted(held_by)
  if not deleted and if_rev ~= '' and if_rev ~= (rev or '0') then return { 'changed' } end
  if deleted then held_by = last end
  if (held_by or '') ~= fence then return { 'moved', held_by } end
  local watching = redis.call('ZRANGE', watchers, 0, -1)
  local gone = {}
  for _, name in ipairs(redis.call('HKEYS', header)) do
    local stays = name == 'fence' or name == 'op' or name == 'last' or name == 'deletedAtMs'
    if not stays then gone[#gone + 1] = name end
  end

  redis.call('HDEL', own, uid)
  redis.call('ZREM', due, uid)
  if not deleted then
    redis.call('HSET', header, 'fence', DELETED .. (rev or '0'), 'op', 'deleted', 'last', fence, 'deletedAtMs', at_ms)
  end
  if #gone > 0 then redis.call('HDEL', header, unpack(gone)) end
  redis.call('UNLINK', messages, queue, runs, run_order, parts, message_ids, aside, outbox)
  return { 'erased', fence, watching }
end

register('commit', commit)
register('keep_images', keep_images)
register('set_catalog', set_catalog)
register('erase_thread', erase_thread)
register('keep_part', keep_part)
register('rate_message', rate_message)
register('wait_in_queue', wait_in_queue)
register('load_thread', load_thread, READS)
register('read_page', read_page, READS)
register('list_runs', list_runs, READS)
register('look_at_thread', look_at_thread, READS)
register('watch_thread', watch_thread)
register('glance_thread', glance_thread, READS)
