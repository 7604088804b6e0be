-- What happened in a channel, by day.

-- What a process counted, once: `nth` grows with each of its counts, and the field `by PROCESS` has the last one. Names and
-- numbers follow the named arguments, `count` of them, and then the users who spoke. The numbers come last.
local function add_stats(keys, args)
  local stats, visitors = unpack(keys)
  local by, nth, kept_ms, count = unpack(args)
  local last = redis.call('HGET', stats, 'by ' .. by)
  if last and tonumber(last) >= tonumber(nth) then
    redis.call('PEXPIRE', stats, kept_ms)
    return 0
  end
  local fields, first = { 'by ' .. by, nth }, 5
  for i = 1, tonumber(count) do
    local name, number = args[first], tonumber(args[first + 1])
    fields[#fields + 1] = name
    fields[#fields + 1] = string.format('%.0f', number + tonumber(redis.call('HGET', stats, name) or '0'))
    first = first + 2
  end
  if args[first] then
    redis.call('PFADD', visitors, unpack(args, first))
    redis.call('PEXPIRE', visitors, kept_ms)
  end
  redis.call('HSET', stats, unpack(fields))
  redis.call('PEXPIRE', stats, kept_ms)
  return 1
end

register('add_stats', add_stats)
