-- Put before the library's text, so that everything its functions ask of Redis passes here first. The functions stay as
-- they are, and whoever calls them sees no difference; what they did wrong is noted, and told when it is asked for.
--
-- A slot on its way to another node has some of its keys here and some there, and Redis refuses what touches a key that
-- is not here: the whole call where a declared key is missing, and otherwise the one command in the midst of the
-- function. It takes back nothing that the function did before. So each call is tried on such slots first, then undone,
-- and then done.

-- While a library is loaded, redis is another thing than when its functions run: looked up each time.
local redis_itself = {
  call = function(...) return redis.call(...) end,
  pcall = function(...) return redis.pcall(...) end,
}
local register_itself = redis.register_function
local REFUSED = 'Script attempted to access a non local key in a cluster node'

local notes, called = {}, {}
local watching, clock_ms = false, 0
-- Of the call that is being tried: refusing, or noting what it touches.
local refusing, trace = false, nil
local frozen_time

local function note(name, sentence)
  notes[#notes + 1] = name .. ': ' .. sentence
end

local function keys_of(command)
  local keys = redis_itself.pcall('COMMAND', 'GETKEYS', unpack(command))
  if keys.err then return {} end
  return keys
end

-- After one of these the key may be gone, whatever it held.
local MAY_EMPTY = ' DEL UNLINK GETDEL HDEL LPOP RPOP LREM LTRIM SREM SPOP ZREM ZPOPMIN '

local is_write = {}
local function writes(name)
  if is_write[name] == nil then
    is_write[name] = false
    for _, flag in ipairs(redis_itself.call('COMMAND', 'INFO', name)[1][3]) do
      if (flag.ok or flag) == 'write' then is_write[name] = true end
    end
  end
  return is_write[name]
end

local function exists(key)
  return redis_itself.call('EXISTS', key) == 1
end

local function time()
  local now = frozen_time or redis_itself.call('TIME')
  local ms = now[1] * 1000 + math.floor(now[2] / 1000) + clock_ms
  return { string.format('%.0f', math.floor(ms / 1000)), string.format('%.0f', (ms % 1000) * 1000) }
end

local function watched_call(...)
  local command = { ... }
  if string.upper(command[1]) == 'TIME' then return time() end
  if not refusing and not trace then return redis_itself.call(...) end

  local keys = keys_of(command)
  -- Without keys there is nothing to refuse.
  if #keys == 0 then return redis_itself.call(...) end
  if refusing then
    for _, key in ipairs(keys) do
      if not exists(key) then error(REFUSED, 0) end
    end
    return redis_itself.call(...)
  end

  local name, writing = string.upper(command[1]), writes(command[1])
  if trace.wrote and not writing then trace.note('reads after it wrote: ' .. name .. ' ' .. keys[1]) end
  for _, key in ipairs(keys) do
    if trace.gone[key] then trace.note('touches what it may have emptied: ' .. name .. ' ' .. key) end
    if writing and not trace.seen[key] then
      trace.note('writes what it neither declared nor read: ' .. name .. ' ' .. key)
    end
    trace.seen[key] = true
    trace.gone[key] = trace.gone[key] or string.find(MAY_EMPTY, ' ' .. name .. ' ', 1, true)
  end
  trace.wrote = trace.wrote or writing
  return redis_itself.call(...)
end

-- As text, whatever order its fields are kept in.
local function content(key)
  local kind = redis_itself.call('TYPE', key).ok
  if kind == 'string' then return redis_itself.call('GET', key) end
  if kind == 'list' then return cjson.encode(redis_itself.call('LRANGE', key, 0, -1)) end
  if kind == 'zset' then return cjson.encode(redis_itself.call('ZRANGE', key, 0, -1, 'WITHSCORES')) end
  local fields = redis_itself.call(kind == 'hash' and 'HKEYS' or 'SMEMBERS', key)
  table.sort(fields)
  local values = kind == 'hash' and #fields > 0 and redis_itself.call('HMGET', key, unpack(fields))
  return cjson.encode({ fields, values })
end

-- Of the slot that is looked at: the key that names it has the hash tag of all.
local pattern

local function keys_here()
  return redis_itself.call('KEYS', pattern)
end

local function everything()
  local all = {}
  for _, key in ipairs(keys_here()) do
    all[key] = {
      dump = redis_itself.call('DUMP', key),
      expires_at = redis_itself.call('PEXPIRETIME', key),
      content = content(key),
    }
  end
  return all
end

local function put(key, kept)
  local expires_at = string.format('%.0f', math.max(kept.expires_at, 0))
  redis_itself.call('RESTORE', key, expires_at, kept.dump, 'REPLACE', 'ABSTTL')
end

local function put_all(all)
  for _, key in ipairs(keys_here()) do
    if not all[key] then redis_itself.call('DEL', key) end
  end
  for key, kept in pairs(all) do put(key, kept) end
end

-- Lifetimes count from the moment of their command, so that two tries differ by what lies between them.
local SAME_MOMENT_MS = 60000

-- The first key that differs; nil where there is none.
local function difference(a, b)
  for key, kept in pairs(a) do
    local other = b[key]
    if not other or other.content ~= kept.content then return key end
    if math.abs(other.expires_at - kept.expires_at) > SAME_MOMENT_MS then return key end
  end
  for key in pairs(b) do
    if not a[key] then return key end
  end
end

local function same_reply(a, b)
  return cjson.encode({ a }) == cjson.encode({ b })
end

-- The call as Redis takes it in a slot that moves, on a node that `gone` has left already; nil for none.
local function try_without(gone, name, callback, keys, args, before, after, reply)
  if gone then redis_itself.call('DEL', gone) end
  local left = everything()
  local starts = true
  for _, key in ipairs(keys) do starts = starts and exists(key) end
  if starts then
    refusing = true
    local done, answer = pcall(callback, keys, args)
    refusing = false
    local without = gone and ' (without ' .. gone .. ')' or ''
    if not done then
      local changed = difference(left, everything())
      if changed then note(name, 'is refused half way, and leaves ' .. changed .. ' changed' .. without) end
    else
      if gone then put(gone, before[gone]) end
      local differs = difference(after, everything())
      if differs or not same_reply(answer, reply) then
        note(name, 'does something else than on a whole slot, at ' .. (differs or 'its answer') .. without)
      end
    end
  end
  put_all(before)
end

local function try(name, callback, keys, args)
  frozen_time = redis_itself.call('TIME')
  pattern = '*' .. string.match(keys[1], '{.*}') .. '*'
  local before = everything()
  local seen = {}
  for _, key in ipairs(keys) do seen[key] = true end
  trace = { seen = seen, gone = {}, wrote = false, note = function(sentence) note(name, sentence) end }
  local reply = callback(keys, args)
  trace = nil
  local after = everything()
  put_all(before)
  try_without(nil, name, callback, keys, args, before, after, reply)
  for key in pairs(before) do
    try_without(key, name, callback, keys, args, before, after, reply)
  end
  frozen_time = nil
end

local redis = { call = watched_call }

function redis.pcall(...)
  local done, reply = pcall(watched_call, ...)
  return done and reply or { err = tostring(reply) }
end

function redis.register_function(function_, its_callback)
  if its_callback then function_ = { function_name = function_, callback = its_callback } end
  local name, callback = function_.function_name, function_.callback
  local reads_only = (function_.flags or {})[1] == 'no-writes'
  called[name] = 0
  register_itself({
    function_name = function_.function_name,
    flags = function_.flags,
    callback = function(keys, args)
      called[name] = called[name] + 1
      -- What only reads may not put anything back, and leaves nothing behind. Without keys it is not about a slot.
      if watching and not reads_only and #keys > 0 then try(name, callback, keys, args) end
      return callback(keys, args)
    end,
  })
end

register_itself('watch', function(keys, args)
  watching = args[1] == '1'
  return 'OK'
end)

register_itself('set_clock', function(keys, args)
  clock_ms = tonumber(args[1])
  return 'OK'
end)

-- Notes, and functions that nobody has called.
register_itself('told', function()
  local missed = {}
  for name, times in pairs(called) do
    if times == 0 then missed[#missed + 1] = name end
  end
  local told = notes
  notes = {}
  return { told, missed }
end)
