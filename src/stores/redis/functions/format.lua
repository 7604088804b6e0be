-- The format of the store (../../format.ts): raised to the caller's, never lowered. Answers what it is now.
local function raise_format(keys, args)
  local format = unpack(keys)
  local ours = unpack(args)
  local found = redis.call('GET', format)
  -- What is no number is for the caller to refuse.
  if found and (tonumber(found) or math.huge) >= tonumber(ours) then return found end
  redis.call('SET', format, ours)
  return ours
end

register('raise_format', raise_format)
