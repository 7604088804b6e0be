-- The whole of the store inside Redis: a step (engine.ts) is checked and written here, and nothing is decided.
--
-- While a slot moves from node to node, a key that is not there, or not there any more, ends a function where it stands, and
-- Redis takes nothing back. So a step reads before it writes, touches no key again that it may have emptied, and may be sent
-- again after any of its writes.
--
-- The library's name has the hash of this text, so that two versions of the service run side by side. Values arrive as one list of
-- words (encode.ts): a number of words where several follow, a key as its place among the declared keys. A value that may be
-- absent is '' (absent) or '=' and the value.

-- As many words at once as Lua can pass on.
local AT_ONCE = 2000

-- The words of the call that runs, the keys that it declared, and how many words were read. Not passed on, since that would cost
-- more than all that is done with them.
local keys, words, at

local function begin(its_keys, its_words)
  keys, words, at = its_keys, its_words, 0
end

local function word()
  at = at + 1
  return words[at]
end

local function number()
  at = at + 1
  return tonumber(words[at])
end

local function key()
  at = at + 1
  return keys[tonumber(words[at])]
end

-- `command` on the next key for each of the next words, as many as the first of these says, and `head` before them.
local function all(command, head)
  local its, last = key(), number() + at
  if last == at then return {} end
  local from = at + 1
  at = last
  if last - from < AT_ONCE then
    if head then return redis.call(command, its, head, unpack(words, from, last)) end
    return redis.call(command, its, unpack(words, from, last))
  end
  local found = {}
  for first = from, last, AT_ONCE do
    local part = { unpack(words, first, math.min(first + AT_ONCE - 1, last)) }
    if head then table.insert(part, 1, head) end
    local answer = redis.call(command, its, unpack(part))
    if type(answer) == 'table' then
      for i = 1, #answer do found[#found + 1] = answer[i] end
    end
  end
  return found
end

-- Up or down by `by`, as many entries as fit, each behind its number. Whole entries: to cut the heads off here costs a third of it.
local function page(entries, nth, last, by, limit, left)
  local found, chunk = {}, limit < 64 and limit or 8
  while (last - nth) * by >= 0 do
    local fields = {}
    for i = 0, math.min(chunk - 1, (last - nth) * by) do fields[i + 1] = nth + i * by end
    local texts = redis.call('HMGET', entries, unpack(fields))
    for i = 1, #texts do
      local text = texts[i]
      if text then
        left = left - (tonumber(string.sub(text, 1, (string.find(text, '\n', 1, true) or 1) - 1)) or 0)
        if #found >= 2 * limit or (left < 0 and #found > 0) then return found end
        found[#found + 1] = fields[i]
        found[#found + 1] = text
      end
    end
    nth, chunk = nth + #fields * by, math.min(chunk * 2, 256)
  end
  return found
end

-- The names in a word, separated by spaces; each such word is split once.
local known_names = {}

local function names_in(text)
  local names = known_names[text]
  if not names then
    names = {}
    for name in string.gmatch(text, '%S+') do names[#names + 1] = name end
    known_names[text] = names
  end
  return names
end

local READS = {
  fields = function() return all('HMGET') end,
  fixed = function() return redis.call('HMGET', key(), unpack(names_in(word()))) end,
  hash = function() return redis.call('HGETALL', key()) end,
  range = function() return redis.call('ZRANGE', key(), word(), word(), 'BYSCORE', 'LIMIT', 0, word(), 'WITHSCORES') end,
  reverse = function()
    return redis.call('ZRANGE', key(), word(), word(), 'BYSCORE', 'REV', 'LIMIT', 0, word(), 'WITHSCORES')
  end,
  scores = function() return all('ZMSCORE') end,
  number = function() return redis.call('ZCOUNT', key(), word(), word()) end,
  size = function() return redis.call('HLEN', key()) end,
  page = function()
    local entries, counted, to = key(), word(), word()
    if counted ~= '' then to = redis.call('HGET', key(), counted) or '0' end
    local from, limit, budget = number(), number(), number()
    if from then return page(entries, from, tonumber(to), 1, limit, budget) end
    return page(entries, tonumber(to), 1, -1, limit, budget)
  end,
  expiry = function() return redis.call('PEXPIRETIME', key()) end,
  exists = function() return redis.call('EXISTS', key()) end,
}

local function answers()
  local found = {}
  for i = 1, number() do found[i] = READS[word()]() end
  return found
end

-- Is what is there one of the next words?
local function is_one_of(found)
  local holds = false
  for _ = 1, number() do
    local value = word()
    if value == '' then holds = holds or not found else holds = holds or found == string.sub(value, 2) end
  end
  return holds
end

-- Each answers the number of the first one that does not hold, from 0, and how many checks it was.
local CHECKS = {
  field = function()
    local found, failed = all('HMGET'), false
    for i = 1, #found do
      local holds = is_one_of(found[i])
      if not holds and not failed then failed = i - 1 end
    end
    return failed, #found
  end,
  score = function()
    local holds = is_one_of(redis.call('ZSCORE', key(), word()))
    return not holds and 0, 1
  end,
  key = function() return redis.call('EXISTS', key()) ~= number() and 0, 1 end,
}

-- The number of the first check that does not hold, from 0; false: all hold.
local function failed_check()
  local failed, before = false, 0
  for _ = 1, number() do
    local its, count = CHECKS[word()]()
    if its and not failed then failed = before + its end
    before = before + count
  end
  return failed
end

local WRITES = {
  set = function() all('HSET') end,
  remove = function() all('HDEL') end,
  put = function() all('ZADD') end,
  raise = function() all('ZADD', 'GT') end,
  new = function() all('ZADD', 'NX') end,
  take = function() all('ZREM') end,
  trim = function() redis.call('ZREMRANGEBYSCORE', key(), '-inf', '(' .. word()) end,
  drop = function() redis.call('UNLINK', key()) end,
  expire = function() redis.call('PEXPIRE', key(), word()) end,
  ['end'] = function() redis.call('PEXPIREAT', key(), word(), 'LT') end,
  count = function() all('PFADD') end,
}

local function write()
  for _ = 1, number() do WRITES[word()]() end
end

-- Answers how it ended ('done', 'repeated', or the number of the check that does not hold), and what the reads found.
local function apply(its_keys, args)
  begin(its_keys, args)
  local found = answers()
  local op, op_field, op_value = key(), word(), word()
  local repeats = op and redis.call('HGET', op, op_field) == op_value
  local failed = failed_check()
  local length = number()
  if repeats then
    at = at + length
  elseif failed then
    return { tostring(failed), found }
  else
    write()
  end
  write()
  return { repeats and 'repeated' or 'done', found }
end

local function read(its_keys, args)
  begin(its_keys, args)
  return answers()
end

-- A write that leaves nothing: it fails where nothing can be written, and makes a WAIT behind it answer for all before it.
local function leave_trace(its_keys)
  redis.call('SET', its_keys[1], '1')
  redis.call('DEL', its_keys[1])
  return 1
end

-- A slot is moving to this node, and none of the keys is left at the other one: Redis checks the declared keys before a
-- function begins, so all but one come as words, their number first.
local function arriving(call)
  return function(_, args)
    local its_keys, rest, last = {}, {}, tonumber(args[1]) + 1
    for i = 2, last do its_keys[i - 1] = args[i] end
    for i = last + 1, #args do rest[i - last] = args[i] end
    return call(its_keys, rest)
  end
end

local function register(name, callback, flags)
  redis.register_function({ function_name = name .. '_' .. VERSION, callback = callback, flags = flags or {} })
end

register('apply', apply)
register('read', read, { 'no-writes' })
register('leave_trace', leave_trace)
register('arriving_apply', arriving(apply))
register('arriving_read', arriving(read), { 'no-writes' })
