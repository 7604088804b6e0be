-- Users of a channel: { id, external id, displayName, blocked, whitelisted, attributes }; their tokens; and whose a thread is.
--
-- To whom a token or an external id leads is known only here, and all keys are declared: an admission is asked for a
-- user whom the caller believes it to be, and answers 'moved' with the right one where it is another.

local function read_user(key)
  local user = redis.call('HMGET', key, 'id', 'external', 'name', 'blocked', 'whitelisted', 'attributes')
  return user[1] and user
end

-- External id, displayName and attributes are optional texts.
local function is_as(user, external, name, blocked, whitelisted, attributes)
  return user
    and user[2] == optional(external)
    and user[3] == optional(name)
    and user[4] == blocked
    and user[5] == whitelisted
    and user[6] == optional(attributes)
end

-- As it shall be, of a user who is there.
local function change_user(key, external, name, blocked, whitelisted, attributes)
  local fields = { 'blocked', blocked, 'whitelisted', whitelisted }
  local texts = { external = optional(external), name = optional(name), attributes = optional(attributes) }
  for field, value in pairs(texts) do
    if value then
      fields[#fields + 1] = field
      fields[#fields + 1] = value
    end
  end
  redis.call('HSET', key, unpack(fields))
  if external == '' then redis.call('HDEL', key, 'external') end
  if name == '' then redis.call('HDEL', key, 'name') end
  if attributes == '' then redis.call('HDEL', key, 'attributes') end
end

-- A user's place in the list, oldest first, also where two came in one millisecond: a thousand places for each.
local function place_of(users, id, at_ms)
  local known = redis.call('ZSCORE', users, id)
  if known then return known end
  local first = tonumber(at_ms) * 1000
  local taken = redis.call('ZCOUNT', users, first, first + 999)
  return string.format('%.0f', first + math.min(taken, 999))
end

-- So long it lives; no longer than `ends_at_ms`, where that is not ''.
local function slide_token(token, ttl_ms, ends_at_ms)
  redis.call('PEXPIRE', token, ttl_ms)
  if ends_at_ms and ends_at_ms ~= '' then redis.call('PEXPIREAT', token, ends_at_ms, 'LT') end
end

-- Is it one that was not revoked? `revocations`: how often its user's tokens were, when it was bound.
local function is_valid(user, revocations)
  return (revocations or '0') == (redis.call('HGET', user, 'revocations') or '0')
end

-- Fields and values, as many at once as Lua can pass on.
local AT_ONCE = 2000

local function set_fields(key, fields)
  for i = 1, #fields, AT_ONCE do
    redis.call('HSET', key, unpack(fields, i, math.min(i + AT_ONCE - 1, #fields)))
  end
end

-- A token's field for a thread that has another name for its page than for its account: the account's name.
local RENAMED = 'as '

-- The user's record has a field for each of its tokens: the token's hash, which its key ends in. Those that ended stay until
-- somebody looks (users.ts); tokens that an earlier version made come in by a walk (fill-tokens.ts).
local function hash_of(token)
  return string.match(token, '[^:]*$')
end

-- The token last: it leads to the user.
local function mint_visitor(keys, args)
  local token, user, users = unpack(keys)
  local user_id, snapshot, ttl_ms, at_ms, ends_at_ms = unpack(args)
  local place = place_of(users, user_id, at_ms)
  redis.call('HSET', user, 'id', user_id, 'blocked', '0', 'whitelisted', '0', hash_of(token), '')
  redis.call('ZADD', users, place, user_id)
  redis.call('HSET', token, 'user', user_id, 'snapshot', snapshot)
  if ends_at_ms ~= '' then redis.call('HSET', token, 'ends', ends_at_ms) end
  slide_token(token, ttl_ms, ends_at_ms)
  return 1
end

-- The new one first: a stop between leaves both.
local function rotate_token(keys, args)
  local token, fresh, user = unpack(keys)
  local user_id, ttl_ms, ends_at_ms = unpack(args)
  local known, fields = redis.call('HGETALL', token), {}
  local bound = {}
  for i = 1, #known, 2 do
    bound[known[i]] = known[i + 1]
    if known[i] ~= 'ends' then
      fields[#fields + 1] = known[i]
      fields[#fields + 1] = known[i + 1]
    end
  end
  if bound.user ~= user_id or not is_valid(user, bound.revocations) then return 0 end
  if redis.call('EXISTS', user) == 0 then return 0 end
  redis.call('HSET', user, hash_of(fresh), '')
  set_fields(fresh, fields)
  if ends_at_ms ~= '' then redis.call('HSET', fresh, 'ends', ends_at_ms) end
  slide_token(fresh, ttl_ms, ends_at_ms)
  redis.call('HDEL', user, hash_of(token))
  redis.call('DEL', token)
  return 1
end

-- Notes whose a token is, where it is still that user's.
local function note_token(keys, args)
  local token, user = unpack(keys)
  local user_id = unpack(args)
  if redis.call('HGET', token, 'user') ~= user_id or redis.call('EXISTS', user) == 0 then return 0 end
  redis.call('HSET', user, hash_of(token), '')
  return 1
end

-- Is there such a token that admits? One that is gone, or another user's by now, is forgotten where it was noted.
local function is_token_valid(keys, args)
  local token, user = unpack(keys)
  local user_id = unpack(args)
  local known = redis.call('HMGET', token, 'user', 'revocations')
  if known[1] == user_id then return is_valid(user, known[2]) and 1 or 0 end
  redis.call('HDEL', user, hash_of(token))
  return 0
end

local function revoke_tokens(keys, args)
  local user = unpack(keys)
  if redis.call('EXISTS', user) == 0 then return 0 end
  redis.call('HINCRBY', user, 'revocations', 1)
  return 1
end

-- `thread_name` is optional; without it `names` is any key.
local function admit_visitor(keys, args)
  local token, channel, user, names = unpack(keys)
  local user_id, ttl_ms, thread_name = unpack(args)
  thread_name = optional(thread_name)
  local known = redis.call('HMGET', token, 'user', 'snapshot', 'revocations', 'ends', RENAMED .. (thread_name or ''))
  local state = redis.call('HMGET', channel, 'enabled', 'mode')
  if not known[1] or not state[1] then return false end
  if known[1] ~= user_id then return { 'moved', known[1] } end
  local found = read_user(user)
  if not found or not is_valid(user, known[3]) then return false end
  -- Of a merge that was stopped the token may know the new name already: the old one still leads there.
  local entry = thread_name and (known[5] and redis.call('HGET', names, known[5]) or redis.call('HGET', names, thread_name))
  slide_token(token, ttl_ms, known[4])
  return { 'admitted', found, state, entry, known[2], known[4] }
end

-- As the service's own mayTalk (domain/user.ts). `state`: enabled, access mode.
local function may_talk(state, user)
  return state[1] == '1' and user[4] ~= '1' and (state[2] == 'open' or user[5] == '1')
end

-- What stands in the place of a deleted thread's owner. The uid of a thread that a caller names follows from the name: where
-- it was deleted, the name's next thread gets another one.
local GONE = 'deleted '

local function was_deleted(owners, uid)
  local owner = redis.call('HGET', owners, uid)
  return owner and string.sub(owner, 1, #GONE) == GONE
end

-- A user's field for a thread holds its uid and when it was made.
local function uid_of(entry)
  return string.match(entry, '^(.*) ') or entry
end

-- Whose a thread is, by its uid, and its place in the channel's order until something is said in it. Before the user's name
-- for it: who reads these two asks that name whether they are right.
local function list_thread(owners, activity, uid, user_id, name, at_ms)
  redis.call('HSET', owners, uid, user_id .. ' ' .. name)
  redis.call('ZADD', activity, 'NX', at_ms, uid)
end

-- `display_name`, `attributes`, `thread_name` and `new_uid` are optional, and empty attributes are none; without a thread name `names` is any key,
-- and so are `owners` and `activity` where no thread may be made. Who may not talk gets no thread. A new user is
-- `new_user_id`, and its record comes last: without it, there is none yet. Where the thread of `new_uid` was deleted, the new
-- one is `other_uid`. An instance of an earlier version may have given the name to the deleted one again, and put a message there:
-- 'deleted' with its uid, until that is `erased`.
local function admit_user(keys, args)
  local external, channel, users, user, names, owners, activity = unpack(keys)
  local user_id, external_id, display_name, attributes, new_user_id, thread_name, new_uid, other_uid, creates,
    at_ms, erased = unpack(args)
  attributes = optional(attributes)
  display_name, thread_name, new_uid = optional(display_name), optional(thread_name), optional(new_uid)
  creates = creates == '1'
  local state = redis.call('HMGET', channel, 'enabled', 'mode')
  local id = redis.call('GET', external)
  if not state[1] or not (id or creates) then return false end
  if (id or new_user_id) ~= user_id then return { 'moved', id or new_user_id } end
  local found = read_user(user)
  local entry = thread_name and redis.call('HGET', names, thread_name)
  if not creates then return found and { 'admitted', found, state, entry } end
  if thread_name and new_uid then
    if entry and was_deleted(owners, uid_of(entry)) then
      if uid_of(entry) ~= erased then return { 'deleted', uid_of(entry) } end
      entry = false
    end
    if was_deleted(owners, new_uid) then new_uid = other_uid end
  end

  if not found then
    found = { user_id, external_id, display_name, '0', '0', false }
    local place = place_of(users, user_id, at_ms)
    if not id then redis.call('SET', external, user_id) end
    redis.call('ZADD', users, place, user_id)
    redis.call('HSET', user, 'id', user_id, 'external', external_id, 'blocked', '0', 'whitelisted', '0')
  end
  if display_name then
    found[3] = display_name
    redis.call('HSET', user, 'name', display_name)
  end
  if attributes == '' then
    if found[6] then redis.call('HDEL', user, 'attributes') end
    found[6] = false
  elseif attributes and attributes ~= found[6] then
    redis.call('HSET', user, 'attributes', attributes)
    found[6] = attributes
  end
  if thread_name and new_uid and not entry and may_talk(state, found) then
    entry = new_uid .. ' ' .. at_ms
    list_thread(owners, activity, new_uid, user_id, thread_name, at_ms)
    redis.call('HSET', names, thread_name, entry)
  end
  return { 'admitted', found, state, entry }
end

local function add_thread(keys, args)
  local user, names, owners, activity = unpack(keys)
  local user_id, name, uid, at_ms = unpack(args)
  if redis.call('EXISTS', user) == 0 then return 0 end
  if redis.call('HEXISTS', names, name) == 1 then return 1 end
  list_thread(owners, activity, uid, user_id, name, at_ms)
  redis.call('HSET', names, name, uid .. ' ' .. at_ms)
  return 1
end

-- An anonymous user without flags and threads. The record goes last: while it is there, the user is.
local function drop_silent_visitor(keys, args)
  local user, names, users, days = unpack(keys)
  local user_id = unpack(args)
  local found = read_user(user)
  if not found or found[2] or found[4] == '1' or found[5] == '1' then return 0 end
  if redis.call('EXISTS', names) == 1 then return 0 end
  redis.call('ZREM', users, user_id)
  redis.call('DEL', days)
  redis.call('DEL', user)
  return 1
end

-- As many at once as Lua can pass on.
local function in_parts(list, work)
  for i = 1, #list, AT_ONCE do work(unpack(list, i, math.min(i + AT_ONCE - 1, #list))) end
end

-- What webhooks are told of a user, or of a deletion (outbox.lua): the event's id, an endpoint and the text of each.
local function write_down(outbox, unqueued, slug, at_ms, entries)
  for i = 1, #entries, 3 do
    local event = entries[i] .. ' ' .. entries[i + 1]
    redis.call('HSET', outbox, event, entries[i + 2])
    redis.call('ZADD', unqueued, at_ms, slug .. ' - ' .. event)
  end
end

-- Notes that a thread is deleted, and takes it off its user's names and the lists. `owner`: the user and the user's name for
-- it, as `owners` has it, '' where nobody knows; `names` is that user's. Answers 'moved' with the right one where it is
-- another. What says whose it is goes last: a repeat finds the name by it.
local function unlist_thread(keys, args)
  local names, owners, activity, changed, gone, outbox, unqueued = unpack(keys)
  local uid, owner, at_ms, slug = unpack(args)
  local known = redis.call('HGET', owners, uid)
  if known and known ~= owner and not was_deleted(owners, uid) then return { 'moved', known } end
  local name = string.match(owner, '^[^ ]* (.*)$')
  local entry = name and redis.call('HGET', names, name)
  local is_first = not redis.call('ZSCORE', gone, 't ' .. uid)

  if is_first then write_down(outbox, unqueued, slug, at_ms, { unpack(args, 5) }) end
  redis.call('ZADD', gone, 'NX', at_ms, 't ' .. uid)
  if entry and uid_of(entry) == uid then redis.call('HDEL', names, name) end
  redis.call('ZREM', activity, uid)
  redis.call('ZREM', changed, uid)
  redis.call('HSET', owners, uid, GONE .. at_ms)
  return { 'done' }
end

-- The user with all that leads to it, and its threads off the lists; answers their uids, a repeat too: what was deleted at
-- this time. `external_id`: as the user has it, '' for none, and `external` leads there; 'moved' where it is another. The
-- record goes last: while it is there, the user is.
local function unlist_user(keys, args)
  local user, names, days, moved, users, blocked, external, owners, activity, changed, gone,
    outbox, unqueued = unpack(keys)
  local user_id, external_id, at_ms, slug = unpack(args)
  local found = read_user(user)
  if found and (found[2] or '') ~= external_id then return { 'moved', found[2] } end
  local is_account = external_id ~= '' and redis.call('GET', external) == user_id
  local known, uids, notes, deleted = {}, {}, {}, {}
  for _, member in ipairs(redis.call('ZRANGE', gone, at_ms, at_ms, 'BYSCORE')) do
    local uid = string.match(member, '^t (.*)$')
    if uid then
      known[uid] = true
      uids[#uids + 1] = uid
    end
  end
  local is_first = not redis.call('ZSCORE', gone, 'u ' .. user_id)
  local entries = redis.call('HGETALL', names)
  for i = 2, #entries, 2 do
    local uid = uid_of(entries[i])
    if not known[uid] then
      known[uid] = true
      uids[#uids + 1] = uid
    end
    notes[#notes + 1] = at_ms
    notes[#notes + 1] = 't ' .. uid
  end
  table.sort(uids)
  for _, uid in ipairs(uids) do
    deleted[#deleted + 1] = uid
    deleted[#deleted + 1] = GONE .. at_ms
  end
  notes[#notes + 1] = at_ms
  notes[#notes + 1] = 'u ' .. user_id

  if is_first then write_down(outbox, unqueued, slug, at_ms, { unpack(args, 5) }) end
  in_parts(notes, function(...) redis.call('ZADD', gone, 'NX', ...) end)
  redis.call('ZREM', users, user_id)
  redis.call('ZREM', blocked, user_id)
  in_parts(uids, function(...) redis.call('ZREM', activity, ...) end)
  in_parts(uids, function(...) redis.call('ZREM', changed, ...) end)
  set_fields(owners, deleted)
  if is_account then redis.call('DEL', external) end
  redis.call('DEL', names)
  redis.call('DEL', days)
  redis.call('DEL', moved)
  redis.call('DEL', user)
  return { 'done', uids }
end

-- A token, where it is still this user's, and what was set aside of it.
local function erase_token(keys, args)
  local token, aside = unpack(keys)
  local user_id = unpack(args)
  if redis.call('HGET', token, 'user') ~= user_id then return 0 end
  redis.call('DEL', aside)
  redis.call('DEL', token)
  return 1
end

-- Only the present day is ever asked for: a month is kept, the oldest day goes. The count comes last: it counts once.
-- Whose user is gone: the account that it became (`moved`).
local function spend_tokens(keys, args)
  local user, days, moved = unpack(keys)
  local day, tokens = unpack(args)
  if redis.call('EXISTS', user) == 0 then return redis.call('GET', moved) or 0 end
  if redis.call('HLEN', days) > 30 and redis.call('HEXISTS', days, day) == 0 then
    local known = redis.call('HKEYS', days)
    table.sort(known)
    if day < known[1] then return 1 end
    redis.call('HDEL', days, known[1])
  end
  redis.call('HINCRBY', days, day, tokens)
  return 1
end

local function spent_tokens(keys, args)
  local user, days, moved = unpack(keys)
  local day = unpack(args)
  local into = redis.call('EXISTS', user) == 0 and redis.call('GET', moved)
  return { into, redis.call('HGET', days, day) }
end

-- Of a day, under a name. One write: stopped before it, nothing was counted.
local function count_tokens(keys, args)
  local count = unpack(keys)
  local tokens, kept_ms = unpack(args)
  local total = tonumber(redis.call('GET', count) or '0') + tonumber(tokens)
  redis.call('SET', count, string.format('%.0f', total), 'PX', kept_ms)
  return 1
end

-- The user as it was read: `was_…`; what webhooks are told follows, and without it `outbox` and `unqueued` are any key. The record comes last: while it is as it was read, the promotion is not done.
local function promote(keys, args)
  local token, external, user, outbox, unqueued = unpack(keys)
  local user_id, external_id, snapshot, was_external, was_name, was_blocked, was_whitelisted,
    was_attributes, slug, at_ms = unpack(args)
  local account_id = redis.call('GET', external)
  if redis.call('HGET', token, 'user') ~= user_id or (account_id and account_id ~= user_id) then return 'changed' end
  if not is_as(read_user(user), was_external, was_name, was_blocked, was_whitelisted, was_attributes) then return 'changed' end
  redis.call('SET', external, user_id)
  redis.call('HSET', token, 'snapshot', snapshot)
  write_down(outbox, unqueued, slug, at_ms, { unpack(args, 11) })
  redis.call('HSET', user, 'external', external_id)
  return 'done'
end

-- What moves from one user's names to the other's, as fields and values. The account's thread keeps a name that both
-- have; the other one takes the first of NAME~2, NAME~3, … that neither side has, so that a name without a rival is
-- never touched. A thread that is there already was moved by a merge that was stopped. And what the token shall know: for
-- its page the two names change places.
local function moving_names(from, into)
  local entries = redis.call('HGETALL', from)
  local names, threads, taken, moving, renamed = {}, {}, {}, {}, {}
  for i = 1, #entries, 2 do
    names[#names + 1] = entries[i]
    threads[entries[i]] = entries[i + 1]
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local free, alias = name, 1
    local there = redis.call('HGET', into, free)
    while there ~= threads[name] and (there or taken[free] or (alias > 1 and threads[free])) do
      alias = alias + 1
      free = name .. '~' .. alias
      there = redis.call('HGET', into, free)
    end
    if free ~= name then
      for field, value in pairs({ [RENAMED .. name] = free, [RENAMED .. free] = name }) do
        renamed[#renamed + 1] = field
        renamed[#renamed + 1] = value
      end
    end
    if not there then
      taken[free] = true
      moving[#moving + 1] = free
      moving[#moving + 1] = threads[name]
    end
  end
  return moving, renamed
end

-- What each day's tokens shall be on the other side; of a merge that was stopped, as it noted them.
local TOTAL = 'total '

local function total_days(from, into)
  local noted, totals = {}, {}
  local entries = redis.call('HGETALL', from)
  for i = 1, #entries, 2 do
    local day, tokens = entries[i], entries[i + 1]
    if string.sub(day, 1, #TOTAL) == TOTAL then
      noted[#noted + 1] = string.sub(day, #TOTAL + 1)
      noted[#noted + 1] = tokens
    else
      totals[#totals + 1] = day
      totals[#totals + 1] = string.format('%.0f', tonumber(tokens) + tonumber(redis.call('HGET', into, day) or '0'))
    end
  end
  return #noted > 0 and noted or totals
end

-- Another snapshot in the place of one that cannot be read, which is kept aside for a while.
local function mend_token(keys, args)
  local token, aside = unpack(keys)
  local unreadable, snapshot, kept_ms = unpack(args)
  if redis.call('HGET', token, 'snapshot') ~= unreadable then return 0 end
  redis.call('SET', aside, unreadable, 'PX', kept_ms)
  redis.call('HSET', token, 'snapshot', snapshot)
  return 1
end

-- A wrapped key by which contents are encrypted is a field of its user: this, and the key's id.
local CONTENT_KEY = 'key '

-- The fields of a user's keys, with their texts.
local function content_keys_of(user)
  local found, fields = {}, redis.call('HGETALL', user)
  for i = 1, #fields, 2 do
    if string.sub(fields[i], 1, #CONTENT_KEY) == CONTENT_KEY then
      found[#found + 1] = fields[i]
      found[#found + 1] = fields[i + 1]
    end
  end
  return found
end

-- Of a user who is there; false: there is none.
local function read_content_keys(keys, args)
  local user = unpack(keys)
  if redis.call('EXISTS', user) == 0 then return false end
  return content_keys_of(user)
end

-- The text that is kept: another one's, where one was first. False: the user is gone.
local function add_content_key(keys, args)
  local user = unpack(keys)
  local key_id, wrapped = unpack(args)
  if redis.call('EXISTS', user) == 0 then return false end
  local known = redis.call('HGET', user, CONTENT_KEY .. key_id)
  if known then return known end
  redis.call('HSET', user, CONTENT_KEY .. key_id, wrapped)
  return wrapped
end

-- `wrapped` is optional: without it the key is removed.
local function replace_content_key(keys, args)
  local user = unpack(keys)
  local key_id, was, wrapped = unpack(args)
  wrapped = optional(wrapped)
  if redis.call('HGET', user, CONTENT_KEY .. key_id) ~= was then return 0 end
  if wrapped then
    redis.call('HSET', user, CONTENT_KEY .. key_id, wrapped)
  else
    redis.call('HDEL', user, CONTENT_KEY .. key_id)
  end
  return 1
end

-- Both users as they were read, `from_…` and `into_…`, and the account as it shall be, `result_…`. The leaving user's
-- record goes last: while it is there as it was read, the merge is not done.
local function merge(keys, args)
  local token, users, from_user, from_names, from_days, into_user, into_names, into_days, moved, owners, blocked, outbox,
    unqueued = unpack(keys)
  local from, into, snapshot, moved_kept_ms,
    from_external, from_name, from_blocked, from_whitelisted, from_attributes,
    into_external, into_name, into_blocked, into_whitelisted, into_attributes,
    result_external, result_name, result_blocked, result_whitelisted, result_attributes, slug, at_ms = unpack(args)
  local holder, account = redis.call('HGET', token, 'user'), read_user(into_user)
  if from == into or (holder ~= from and holder ~= into) then return 'changed' end
  if not is_as(read_user(from_user), from_external, from_name, from_blocked, from_whitelisted, from_attributes) then
    return 'changed'
  end
  if not is_as(account, into_external, into_name, into_blocked, into_whitelisted, into_attributes)
    and not is_as(account, result_external, result_name, result_blocked, result_whitelisted, result_attributes) then
    return 'changed'
  end
  local revocations = redis.call('HGET', into_user, 'revocations')
  local names, renamed = moving_names(from_names, into_names)
  local content_keys = content_keys_of(from_user)
  local totals, notes = total_days(from_days, into_days), {}
  for i = 1, #totals, 2 do
    notes[i], notes[i + 1] = TOTAL .. totals[i], totals[i + 1]
  end
  local place, owned = redis.call('ZSCORE', users, into) or '0', {}
  for i = 1, #names, 2 do
    owned[i], owned[i + 1] = string.match(names[i + 1], '^(.*) ') or names[i + 1], into .. ' ' .. names[i]
  end

  -- First: what moves is encrypted by them.
  set_fields(into_user, content_keys)
  -- Before the names: a repeat finds no name to move any more.
  set_fields(owners, owned)
  set_fields(into_names, names)
  -- Noted before they are added: a repeat adds nothing twice.
  set_fields(from_days, notes)
  set_fields(into_days, totals)
  change_user(into_user, result_external, result_name, result_blocked, result_whitelisted, result_attributes)
  set_fields(token, renamed)
  redis.call('HSET', into_user, hash_of(token), '')
  redis.call('HSET', token, 'user', into, 'snapshot', snapshot,
    unpack(revocations and { 'revocations', revocations } or {}))
  redis.call('SET', moved, into, 'PX', moved_kept_ms)
  if result_blocked == '1' then
    redis.call('ZADD', blocked, place, into)
    redis.call('ZREM', blocked, from)
  else
    redis.call('ZREM', blocked, from, into)
  end
  write_down(outbox, unqueued, slug, at_ms, { unpack(args, 22) })
  redis.call('ZREM', users, from)
  redis.call('DEL', from_names)
  redis.call('DEL', from_days)
  redis.call('DEL', from_user)
  return 'done'
end

-- Each flag is '' where it stays.
local function flag_user(keys, args)
  local user, users, blocked_users = unpack(keys)
  local user_id, blocked, whitelisted = unpack(args)
  local found = read_user(user)
  if not found then return false end
  local place = redis.call('ZSCORE', users, user_id) or '0'
  if blocked ~= '' then found[4] = blocked end
  if whitelisted ~= '' then found[5] = whitelisted end
  if found[4] == '1' then
    redis.call('ZADD', blocked_users, place, user_id)
  else
    redis.call('ZREM', blocked_users, user_id)
  end
  redis.call('HSET', user, 'blocked', found[4], 'whitelisted', found[5])
  return found
end

-- `display_name` is an optional text; without it the user has no name any more.
local function rename_user(keys, args)
  local user = unpack(keys)
  local display_name = unpack(args)
  local found = read_user(user)
  if not found then return false end
  found[3] = optional(display_name)
  if found[3] then
    redis.call('HSET', user, 'name', found[3])
  else
    redis.call('HDEL', user, 'name')
  end
  return found
end

-- Is (at, uid) before (other_at, other_uid) in a list with the latest first?
local function is_later(at, uid, other_at, other_uid)
  return at > other_at or (at == other_at and uid > other_uid)
end

-- Of a user's threads as many as a page needs, so that who has thousands costs one reading: { name, entry, time } of each,
-- in no order. All of them, and no times, where they are no more than `fewest`. Else the `limit` latest ones behind
-- `after` (time and uid; '' for the first page), and, without a time, up to `limit` others that the index does not know.
local function select_threads(keys, args)
  local names, activity = unpack(keys)
  local fewest, limit, after_at, after_uid = unpack(args)
  limit, after_at = tonumber(limit), tonumber(after_at)
  local entries = redis.call('HGETALL', names)
  local count, found = #entries / 2, {}
  if count <= tonumber(fewest) then
    for i = 1, #entries, 2 do found[#found + 1] = { entries[i], entries[i + 1], false } end
    return { 'all', found }
  end
  local unknown, latest = {}, {}
  for from = 0, count - 1, AT_ONCE do
    local uids = {}
    for i = from + 1, math.min(from + AT_ONCE, count) do
      uids[#uids + 1] = string.match(entries[2 * i], '^(.*) ') or entries[2 * i]
    end
    for nth, score in ipairs(redis.call('ZMSCORE', activity, unpack(uids))) do
      local uid, name, entry = uids[nth], entries[2 * (from + nth) - 1], entries[2 * (from + nth)]
      local at = score and tonumber(score)
      if not at then
        if #unknown < limit then unknown[#unknown + 1] = { name, entry, false } end
      elseif not after_at or is_later(after_at, after_uid, at, uid) then
        local worst = latest[limit]
        if not worst or is_later(at, uid, worst[1], worst[2]) then
          local place = math.min(#latest + 1, limit)
          while place > 1 and is_later(at, uid, latest[place - 1][1], latest[place - 1][2]) do
            latest[place] = latest[place - 1]
            place = place - 1
          end
          latest[place] = { at, uid, name, entry, score }
        end
      end
    end
  end
  for _, one in ipairs(latest) do found[#found + 1] = { one[3], one[4], one[5] } end
  for _, one in ipairs(unknown) do found[#found + 1] = one end
  return { 'some', found }
end

register('mint_visitor', mint_visitor)
register('rotate_token', rotate_token)
register('revoke_tokens', revoke_tokens)
register('admit_visitor', admit_visitor)
register('admit_user', admit_user)
register('add_thread', add_thread)
register('drop_silent_visitor', drop_silent_visitor)
register('unlist_thread', unlist_thread)
register('unlist_user', unlist_user)
register('erase_token', erase_token)
register('note_token', note_token)
register('is_token_valid', is_token_valid)
register('spend_tokens', spend_tokens)
register('spent_tokens', spent_tokens, READS)
register('count_tokens', count_tokens)
register('promote', promote)
register('mend_token', mend_token)
register('merge', merge)
register('read_content_keys', read_content_keys, READS)
register('add_content_key', add_content_key)
register('replace_content_key', replace_content_key)
register('flag_user', flag_user)
register('rename_user', rename_user)
register('select_threads', select_threads, READS)
