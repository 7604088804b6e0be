-- What the store does inside Redis: each function is one atomic step on one key slot.
--
-- The files of this folder are joined to one library, this one first (functions.ts), behind a first line that names
-- the library and sets VERSION, the hash of their text: libraries are never replaced, so two versions of the service
-- run side by side.
--
-- The rule of the library. While a slot moves from node to node, a key that is not there, or not there any more, ends
-- a function where it stands, and Redis takes nothing back. So each function:
--   1. touches no key that its caller has not declared;
--   2. reads everything before its first write;
--   3. touches no key again that one of its writes may have emptied or deleted;
--   4. writes in an order in which, wherever it is stopped, the same call made again completes what was begun, and
--      answers and leaves what it would have. Mostly: last comes the write by which the next call sees that it is done.
-- Guards in the tests hold every function to it, and stop it before each of its writes.
--
-- A function begins with the names of its keys and arguments, in the order in which functions.ts lists them; a test
-- compares the two. Arguments and answers are flat texts. Optional texts travel as '' (none) or '=' and the text; a
-- field that is not there is a null. Lists hold entries of a head, a newline and JSON, so that no JSON is read here: a
-- message's head is the length of its content, a waiting message's head its run.

local function optional(text)
  if text == '' then return false end
  return string.sub(text, 2)
end

-- Of an entry that is none, which somebody will set aside, the head is empty and all is the body.
local function head_of(entry)
  return string.sub(entry, 1, (string.find(entry, '\n', 1, true) or 1) - 1)
end

local function body_of(entry)
  return string.sub(entry, (string.find(entry, '\n', 1, true) or 0) + 1)
end

local steps = {}

local function register(name, callback, flags)
  steps[name .. '_' .. VERSION] = callback
  redis.register_function({ function_name = name .. '_' .. VERSION, callback = callback, flags = flags or {} })
end

local READS = { 'no-writes' }
