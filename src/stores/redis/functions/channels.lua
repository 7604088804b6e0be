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

-- Writes a channel whose text is still `before`, '' for none.
local function replace_channel(keys, args)
  local channel = unpack(keys)
  local before, record, enabled, mode = unpack(args)
  if (redis.call('HGET', channel, 'json') or '') ~= before then return 0 end
  redis.call('HSET', channel, 'json', record, 'enabled', enabled, 'mode', mode)
  return 1
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
register('replace_channel', replace_channel)
