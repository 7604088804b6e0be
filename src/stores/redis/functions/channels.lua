-- Channels and addresses: a member comes into a set or leaves it, and every instance is told.
-- `command`: SADD or SREM. `always`: it is news also where the set stays as it is.
local function change_set(keys, args)
  local set, changes = unpack(keys)
  local command, member, always = unpack(args)
  local is_member = redis.call('SISMEMBER', set, member) == 1
  local changes_set = is_member == (command == 'SREM')
  if changes_set or always == '1' then
    redis.call('INCR', changes)
    redis.call('PUBLISH', changes, '')
  end
  if not changes_set then return 0 end
  return redis.call(command, set, member)
end

-- Something else changed that every instance is told of.
local function note_change(keys, args)
  local changes = unpack(keys)
  redis.call('INCR', changes)
  redis.call('PUBLISH', changes, '')
  return 1
end

register('note_change', note_change)
register('change_set', change_set)
