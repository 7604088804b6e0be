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

-- An entry in its place (place_of of users.lua); a few of those from before `kept_from_ms` are dropped with it.
local function append_audit(keys, args)
  local audit = unpack(keys)
  local entry, at_ms, kept_from_ms, most = unpack(args)
  local place = place_of(audit, entry, at_ms)
  local old = redis.call('ZRANGE', audit, '-inf', '(' .. kept_from_ms .. '000', 'BYSCORE', 'LIMIT', 0, most)
  redis.call('ZADD', audit, place, entry)
  if #old > 0 then redis.call('ZREM', audit, unpack(old)) end
  return 1
end

register('change_operator', change_operator)
register('append_audit', append_audit)
