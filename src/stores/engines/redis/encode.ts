import type { Check, Pair, Read, Step, Write } from "../../engine.ts";
import { functionCall } from "./library.ts";

/*
 * A step as the words of a function's call (apply.lua), and all the commands that a step can become. A command is its name, the
 * place of its key among the call's keys, how many words follow, and these.
 */

/** As many words in one command as Lua can pass on; an even number, so that pairs stay together. */
const AT_ONCE = 2000;

const MODES = { raise: "GT", new: "NX" };

/** One call in the making. */
interface Call {
  keys: string[];
  words: string[];
}

/** The call of a step. */
export function applyCall({ checks, writes, op, after = [], reads = [] }: Step): string[] {
  const call: Call = { keys: [], words: [] };
  const { words } = call;
  addReads(call, reads);
  words.push(op ? placeOf(call, op.key) : "0", op?.field ?? "", op?.value ?? "");
  addChecks(call, checks);
  // How many words the writes are: a repeat skips them.
  const at = words.push("") - 1;
  addWrites(call, writes);
  words[at] = String(words.length - at - 1);
  addWrites(call, after);
  return functionCall("apply", call.keys, words);
}

/** The call of several reads of one moment. */
export function readCall(reads: readonly Read[]): string[] {
  const call: Call = { keys: [], words: [] };
  addReads(call, reads);
  return functionCall("read", call.keys, call.words);
}

/** A single read as a command of its own, which costs Redis less than a function; null: it needs the function. */
export function plainCommand(read: Read): string[] | null {
  // Outside of a function they answer in another shape, that of RESP 3.
  if (read.read === "range" || read.read === "scores") return null;
  return read.read === "page" || commandsOf(read) !== 1 ? null : commandOf(read);
}

/** How many commands a read is within a call. */
export function commandsOf(read: Read): number {
  if (read.read === "fields") return Math.ceil(read.fields.length / AT_ONCE);
  return read.read === "scores" ? Math.ceil(read.members.length / AT_ONCE) : 1;
}

type Command = [name: string, key: string, ...words: string[]];

/** No command of Redis reads a page. */
function commandOf(read: Exclude<Read, { read: "page" }>): Command {
  const { key } = read;
  switch (read.read) {
    case "fields":
      return ["HMGET", key, ...read.fields];
    case "hash":
      return ["HGETALL", key];
    case "range": {
      const { from = -Infinity, to = Infinity, reverse = false, limit = -1 } = read;
      const [first, last] = reverse ? [to, from] : [from, to];
      const order = reverse ? ["BYSCORE", "REV"] : ["BYSCORE"];
      return ["ZRANGE", key, bound(first), bound(last), ...order, "LIMIT", "0", String(limit), "WITHSCORES"];
    }
    case "scores":
      return ["ZMSCORE", key, ...read.members];
    case "number":
      return ["ZCOUNT", key, bound(read.from ?? -Infinity), bound(read.to ?? Infinity)];
    case "size":
      return ["HLEN", key];
    case "expiry":
      return ["PEXPIRETIME", key];
    case "exists":
      return ["EXISTS", key];
    case "distinct":
      return ["PFCOUNT", key];
  }
}

function addReads(call: Call, reads: readonly Read[]): void {
  addCounted(call, reads, (read) => addRead(call, read));
}

function addRead(call: Call, read: Read): number {
  // Each message reads fields: no array is made for them.
  if (read.read === "fields") return addLong(call, "HMGET", read.key, read.fields);
  if (read.read === "scores") return addLong(call, "ZMSCORE", read.key, read.members);
  if (read.read === "page") return addPage(call, read);
  const [name, key, ...list] = commandOf(read);
  return add(call, name, key, list);
}

function addPage(call: Call, { key, from, to, limit, budget }: Read & { read: "page" }): number {
  const { words } = call;
  words.push("page", placeOf(call, key));
  if (typeof to === "number") words.push("", String(to));
  else words.push(to.field, placeOf(call, to.key));
  words.push(from === undefined ? "" : String(from), wide(limit), wide(budget));
  return 1;
}

function addChecks(call: Call, checks: readonly Check[]): void {
  const { words } = call;
  const at = words.push("") - 1;
  let count = 0;
  for (let nth = 0; nth < checks.length; count++) nth += addCheck(call, checks, nth);
  words[at] = String(count);
}

/** Adds the check of this number, and those that follow of other fields of its key, which are read at once. Their number. */
function addCheck(call: Call, checks: readonly Check[], nth: number): number {
  const check = checks[nth];
  if (!check) return 0;
  switch (check.check) {
    case "field": {
      const fields = [check];
      for (let next = checks[nth + 1]; next?.check === "field" && next.key === check.key;) {
        if (fields.push(next) === AT_ONCE) break;
        next = checks[nth + fields.length];
      }
      add(
        call,
        "HMGET",
        check.key,
        fields.map(({ field }) => field),
      );
      for (const { is } of fields) addValues(call, is);
      return fields.length;
    }
    case "score":
      add(call, "ZMSCORE", check.key, [check.member]);
      addValues(call, check.is);
      return 1;
    case "key":
      add(call, "EXISTS", check.key, []);
      addValues(call, [check.exists ? 1 : 0]);
      return 1;
  }
}

function addValues({ words }: Call, values: readonly (string | number | null)[]): void {
  const at = words.push("") - 1;
  for (const value of values) if (value !== null) words.push(String(value));
  const count = words.length - at - 1;
  words[at] = String(count === values.length ? count : -1 - count);
}

function addWrites(call: Call, writes: readonly Write[]): void {
  addCounted(call, writes, (write) => addWrite(call, write));
}

function addWrite(call: Call, write: Write): number {
  const { key } = write;
  switch (write.write) {
    case "set":
      return addLong(call, "HSET", key, namesAndValues(write.fields));
    case "put":
      return addLong(call, "ZADD", key, scoresAndMembers(write.members), write.mode && MODES[write.mode]);
    case "remove":
      return addLong(call, "HDEL", key, write.fields);
    case "take":
      return addLong(call, "ZREM", key, write.members);
    case "count":
      return addLong(call, "PFADD", key, write.members);
    case "trim":
      return add(call, "ZREMRANGEBYSCORE", key, ["-inf", `(${bound(write.belowScore)}`]);
    case "drop":
      return add(call, "UNLINK", key, []);
    case "expire":
      return add(call, "PEXPIRE", key, [String(write.inMs)]);
    case "end":
      return add(call, "PEXPIREAT", key, [String(write.atMs), "LT"]);
  }
}

/** As flat(), at a fraction of its cost. */
function namesAndValues(pairs: readonly Pair[]): string[] {
  const list: string[] = [];
  for (const [name, value] of pairs) list.push(name, value);
  return list;
}

function scoresAndMembers(members: readonly (readonly [member: string, score: number])[]): string[] {
  const list: string[] = [];
  for (const [member, score] of members) list.push(bound(score), member);
  return list;
}

/** Adds each, behind the number of commands that they become. */
function addCounted<One>({ words }: Call, list: readonly One[], addOne: (one: One) => number): void {
  const at = words.push("") - 1;
  let count = 0;
  for (const one of list) count += addOne(one);
  words[at] = String(count);
}

/** Adds a command for as many of the words as Lua can pass on at once, with the option before them: none without words. */
function addLong(call: Call, name: string, key: string, list: readonly string[], option?: string): number {
  const head = option === undefined ? [] : [option];
  if (list.length > 0 && list.length <= AT_ONCE) return add(call, name, key, list, head);
  let count = 0;
  for (let from = 0; from < list.length; from += AT_ONCE)
    count += add(call, name, key, list.slice(from, from + AT_ONCE), head);
  return count;
}

function add(
  call: Call,
  name: string,
  key: string,
  list: readonly string[],
  head: readonly string[] = [],
): 1 {
  const { words } = call;
  words.push(name, placeOf(call, key), String(head.length + list.length));
  for (const word of head) words.push(word);
  for (const word of list) words.push(word);
  return 1;
}

function placeOf({ keys }: Call, key: string): string {
  const at = keys.indexOf(key);
  return String(at < 0 ? keys.push(key) : at + 1);
}

function bound(score: number): string {
  if (score === Infinity) return "+inf";
  return score === -Infinity ? "-inf" : String(score);
}

/** Lua reads no Infinity. */
function wide(number: number): string {
  return String(Math.min(number, Number.MAX_SAFE_INTEGER));
}
