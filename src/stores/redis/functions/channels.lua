-- Channels and addresses: a member comes into a set or leaves it, and every instance is told.
-- `command`: SADD or SREM. `always`: it is news also where the set stays as it is.
local function change_set(keys, args)
  local set, changes = unpack(keys)
  local command, member, always = unpack(args)
  local changed = redis.call(command, set, member)
  if changed == 1 or always == '1' then
    redis.call('INCR', changes)
    redis.call('PUBLISH', changes, '')
  end
  return changed
end

register('change_set', change_set)
