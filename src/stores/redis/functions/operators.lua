-- Operators, each a record under its name, of which every instance is told; and the audit, by time.

-- `how`: `add`, where there is none of that name; `replace` and `remove`, where there is one.
local function change_operator(keys, args)
  local operators, changes = unpack(keys)
  local how, name, record = unpack(args)
  local stored = redis.call('HGET', operators, name)
  -- The same call once more, which has done it before.
  if how ~= 'remove' and stored == record then return 1 end
  if (how == 'add') == (stored ~= false) then return 0 end
  redis.call('INCR', changes)
  redis.call('PUBLISH', changes, '')
  if how == 'remove' then
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
