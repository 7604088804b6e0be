-- Operators, each a record under its name, of which every instance is told; and the audit, by time.

-- Writes an operator whose text is still `before`, '' for none; `record` '' removes it.
local function change_operator(keys, args)
  local operators, changes = unpack(keys)
  local name, before, record = unpack(args)
  local stored = redis.call('HGET', operators, name) or ''
  -- A repeat of the same call.
  if stored == record then return 1 end
  if stored ~= before then return 0 end
  redis.call('INCR', changes)
  redis.call('PUBLISH', changes, '')
  if record == '' then
    redis.call('HDEL', operators, name)
  else
    redis.call('HSET', operators, name, record)
  end
  return 1
end

-- An entry behind those of its millisecond (place_of of users.lua), its place before it, because two entries may say the
-- same. A few of those from before `kept_from_ms` are dropped first, but never all that there are.
local function append_audit(keys, args)
  local audit = unpack(keys)
  local entry, at_ms, kept_from_ms, most = unpack(args)
  local place = place_of(audit, '', at_ms)
  local old = redis.call('ZRANGE', audit, '-inf', '(' .. kept_from_ms .. '000', 'BYSCORE', 'LIMIT', 0, most)
  local there = redis.call('ZCOUNT', audit, '-inf', '+inf')
  if #old > 0 and #old < there then redis.call('ZREM', audit, unpack(old)) end
  redis.call('ZADD', audit, place, place .. ' ' .. entry)
  return 1
end

register('change_operator', change_operator)
register('append_audit', append_audit)
