-- Applies a step of the store (engine.ts) inside Redis: checks, writes and reads. It makes no decisions.
--
-- While a slot migrates, a command on a key that is not on this node raises an error, and Redis does not undo earlier writes. So a
-- step reads before it writes, does not touch a key again that it may have emptied, and can be repeated after any of its writes.
--
-- The library's name contains the hash of this text, so two versions of the service can run side by side. Values arrive as one
-- list of words (encode.ts). A command is its name, its key's index among the declared keys, the number of its words, and the
-- words. Only encode.ts knows which commands there are.

-- The current call: its declared keys, its words, and how many words were read. Shared by all functions, because passing them on
-- costs more than the rest. `+ 0` converts a word to a number faster than tonumber.
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

-- Runs the command in the next words, and returns its answer.
local function command()
  local first = at + 4
  at = at + 3 + words[at + 3]
  return redis.call(words[first - 3], keys[words[first - 2] + 0], unpack(words, first, at))
end

local function commands()
  for _ = 1, number() do command() end
end

-- Reads entries by number, up or down by `by`, while they fit into the budget `left`. Returns numbers and entries in turn. Entries
-- stay whole: cutting off their heads here would add a third to the cost.
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

-- Reads a page of entries. Its words: the entries' key; the field that holds the last number, and that field's key, or an empty
-- word, and the last number itself; the first number, or an empty word; the limit; the budget.
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

-- Whether the value is among the next words, whose count comes first. A negative count: a missing value is accepted, too.
local function is_one_of(found)
  local count = number()
  local holds = count < 0 and not found
  if count < 0 then count = -1 - count end
  for i = at + 1, at + count do holds = holds or found == words[i] end
  at = at + count
  return holds
end

-- Returns the index of the first check that fails, from 0, or false. Each value of a command's answer is checked on its own.
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

-- Returns 'done', 'repeated', or the index of the check that failed; and what the reads found.
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

-- Writes and deletes a key. Fails if this node cannot write; a WAIT after it covers all earlier writes.
local function leave_trace(its_keys)
  redis.call('SET', its_keys[1], '1')
  redis.call('DEL', its_keys[1])
  return 1
end

-- For a slot that is being imported, once no key is left on the source node. Redis checks declared keys before a function begins,
-- so all keys but one arrive as words, after their count.
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
