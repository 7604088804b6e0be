/**
 * The function library under guard: the same functions, and each call of Redis that breaks the library's rule
 * (apply.lua) is an error, `BROKEN RULE …`. A function can be stopped before any of its writes, as a key that
 * is not there any more stops it: with the error `STOPPED`.
 *
 * A server that has the guarded library under the library's own name is not given the other one.
 */
export function guarded(library: string): string {
  const [name = "", version = "", ...rest] = library.split("\n");
  return [name, version, GUARD, ...rest].join("\n");
}

/** Lets the next function stop before its nth write; 0: not at all. */
export function stopOrder(library: string, beforeWrite: number): string[] {
  const version = /VERSION = '(\w+)'/.exec(library)?.[1] ?? "";
  return ["FCALL", `guard_${version}`, "0", String(beforeWrite)];
}

const READS = (
  "EXISTS GET HEXISTS HGET HGETALL HKEYS HLEN HMGET LINDEX LLEN LPOS LRANGE PEXPIRETIME PFCOUNT SISMEMBER TIME ZCOUNT " +
  "ZRANGE ZMSCORE ZSCORE"
).split(" ");
const WRITES =
  "DEL HDEL HINCRBY HSET HSETNX INCR LPOP LSET PEXPIRE PEXPIREAT PFADD RPUSH SADD SET SREM UNLINK ZADD ZINCRBY ZREM ZREMRANGEBYSCORE".split(
    " ",
  );
/** Commands without a key. */
const KEYLESS = ["TIME", "PUBLISH"];

const set = (names: string[]) => `{ ${names.map((name) => `${name} = true`).join(", ")} }`;

const GUARD = `
local engine, stop_before, call = redis, 0, nil
local READS, WRITES, KEYLESS = ${set(READS)}, ${set(WRITES)}, ${set(KEYLESS)}

local function broken(command, key, words)
  error('BROKEN RULE by ' .. call.name .. ': ' .. command .. ' ' .. tostring(key) .. ' ' .. words)
end

local redis = {}

function redis.call(command, ...)
  local keys = KEYLESS[command] and {} or (command == 'DEL' or command == 'UNLINK') and { ... } or { (...) }
  if not READS[command] and not WRITES[command] and not KEYLESS[command] then
    broken(command, keys[1], 'is no command that the guard knows')
  end
  if READS[command] and call.writes > 0 then broken(command, keys[1], 'reads after a write') end
  for _, key in ipairs(keys) do
    if not call.declared[key] then broken(command, key, 'touches a key that was not declared') end
    if call.emptied[key] then broken(command, key, 'touches a key that the function emptied') end
  end
  if WRITES[command] then
    call.writes = call.writes + 1
    if call.writes == call.stop_before then error('STOPPED') end
  end
  local existed = {}
  if WRITES[command] then
    for _, key in ipairs(keys) do existed[key] = _G.redis.call('EXISTS', key) == 1 end
  end
  local answer = _G.redis.call(command, ...)
  for key, was_there in pairs(existed) do
    if was_there then call.emptied[key] = _G.redis.call('EXISTS', key) == 0 end
  end
  return answer
end

function redis.register_function(options)
  local callback = options.callback
  engine.register_function({
    function_name = options.function_name,
    flags = options.flags,
    callback = function(keys, args)
      call = { name = options.function_name, declared = {}, emptied = {}, writes = 0, stop_before = stop_before }
      stop_before = 0
      for _, key in ipairs(keys) do call.declared[key] = true end
      return callback(keys, args)
    end,
  })
end

engine.register_function({
  function_name = 'guard_' .. VERSION,
  callback = function(_, args) stop_before = tonumber(args[1]) return 1 end,
})
`;
