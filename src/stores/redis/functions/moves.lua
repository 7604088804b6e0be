-- Servers and slots, whatever is kept there.

-- A write that leaves nothing: it fails where nothing can be written, and makes a WAIT behind it answer for all before it.
local function leave_trace(keys, args)
  local trace = unpack(keys)
  redis.call('SET', trace, '1')
  redis.call('DEL', trace)
  return 1
end

register('leave_trace', leave_trace)

-- Any function, on a slot that is moving to this node, when none of its keys is left at the other one. `args`: the
-- function's name, how many keys it has, they, and its arguments.
local function on_arriving_slot(_, args)
  local name, count = args[1], tonumber(args[2])
  return steps[name]({ unpack(args, 3, 2 + count) }, { unpack(args, 3 + count) })
end

redis.register_function({ function_name = 'on_arriving_slot_' .. VERSION, callback = on_arriving_slot })
