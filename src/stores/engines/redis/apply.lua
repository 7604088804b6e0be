-- The whole of the store inside Redis: a step (engine.ts) is checked and written here, and nothing is decided.
--
-- While a slot moves from node to node, a key that is not there, or not there any more, ends a function where it stands, and
-- Redis takes nothing back. So a step reads before it writes, touches no key again that it may have emptied, and may be sent
-- again after any of its writes.
--
-- The library's name has the hash of this text, so that two versions of the service run side by side. Values arrive as one list of
-- words (encode.ts). A command is its name, its key's place among the declared keys, how many words follow, and these; it is not
-- known here, so all that it may be is said in encode.ts.

-- The words of the call that runs, the keys that it declared, and how many words were read. Not passed on, since that would cost
-- more than all that is done with them. An operator makes a number of a word at less cost than tonumber does.
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
  return words[at] + 0
end

local function key()
  at = at + 1
  return keys[words[at] + 0]
end

-- What Redis answers to the command that the next words say.
local function command()
  local first = at + 4
  at = at + 3 + words[at + 3]
  return redis.call(words[first - 3], keys[words[first - 2] + 0], unpack(words, first, at))
end

local function commands()
  for _ = 1, number() do command() end
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

-- A page of entries: their key; the field that has the last number, or nothing, and then where it is, a key's place or the number
-- itself; the first number, or nothing; how many at most; and their budget.
local function next_page()
  at = at + 1
  local entries, counted = key(), word()
  local to = counted == '' and word() or redis.call('HGET', key(), counted) or '0'
  local first, limit, budget = word(), number(), number()
  if first == '' then return page(entries, to + 0, 1, -1, limit, budget) end
  return page(entries, first + 0, to + 0, 1, limit, budget)
end

local function answers()
  local found = {}
  for i = 1, number() do found[i] = words[at + 1] == 'page' and next_page() or command() end
  return found
end

-- Is what was found one of the next words, their number first? A negative number: one more, which is that nothing was found.
local function is_one_of(found)
  local count = number()
  local holds = count < 0 and not found
  if count < 0 then count = -1 - count end
  for i = at + 1, at + count do holds = holds or found == words[i] end
  at = at + count
  return holds
end

-- The number of the first check that does not hold, from 0; false: all hold. A command answers as many checks as it finds values.
local function failed_check()
  local failed, nth = false, 0
  for _ = 1, number() do
    local found = command()
    if type(found) == 'number' then found = { tostring(found) } end
    for i = 1, #found do
      if not is_one_of(found[i]) and not failed then failed = nth end
      nth = nth + 1
    end
  end
  return failed
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
    commands()
  end
  commands()
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
