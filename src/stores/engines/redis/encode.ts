import { fixedWord } from "../../engine.ts";
import type { Check, Read, Step, Write } from "../../engine.ts";
import { functionCall } from "./library.ts";

/*
 * A step as the words of a function's call (apply.lua). A key is its place among the call's keys, a list its length and its
 * words; a value that may be absent is '' (absent) or '=' and the value.
 */

/** One call in the making. */
interface Call {
  keys: string[];
  words: string[];
}

function place(call: Call, key: string): void {
  let at = call.keys.indexOf(key);
  if (at < 0) at = call.keys.push(key) - 1;
  call.words.push(String(at + 1));
}

/** The call of a step. */
export function applyCall({ checks, writes, op, after = [], reads = [] }: Step): string[] {
  const call: Call = { keys: [], words: [] };
  const { words } = call;
  addReads(call, reads);
  if (op) place(call, op.key);
  else words.push("0");
  words.push(op?.field ?? "", op?.value ?? "");
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
  switch (read.read) {
    case "fields":
      return read.fields.length > 0 ? ["HMGET", read.key, ...read.fields] : null;
    case "hash":
      return ["HGETALL", read.key];
    case "number":
      return ["ZCOUNT", read.key, bound(read.from ?? -Infinity), bound(read.to ?? Infinity)];
    case "size":
      return ["HLEN", read.key];
    case "exists":
      return ["EXISTS", read.key];
    case "distinct":
      return ["PFCOUNT", read.key];
    case "range":
    case "scores":
    case "page":
    case "expiry":
      return null;
  }
}

function addReads(call: Call, reads: readonly Read[]): void {
  call.words.push(String(reads.length));
  for (const read of reads) addRead(call, read);
}

function addRead(call: Call, read: Read): void {
  const { words } = call;
  switch (read.read) {
    case "fields": {
      const fixed = fixedWord(read.fields);
      words.push(fixed === undefined ? read.read : "fixed");
      place(call, read.key);
      if (fixed === undefined) addList(words, read.fields);
      else words.push(fixed);
      break;
    }
    case "scores":
      words.push(read.read);
      place(call, read.key);
      addList(words, read.members);
      break;
    case "range": {
      const { from = -Infinity, to = Infinity, reverse = false, limit = -1 } = read;
      words.push(reverse ? "reverse" : "range");
      place(call, read.key);
      words.push(...(reverse ? [bound(to), bound(from)] : [bound(from), bound(to)]), String(limit));
      break;
    }
    case "number":
      words.push(read.read);
      place(call, read.key);
      words.push(bound(read.from ?? -Infinity), bound(read.to ?? Infinity));
      break;
    case "page": {
      const { from, to, limit, budget } = read;
      words.push(read.read);
      place(call, read.key);
      if (typeof to === "number") words.push("", String(to));
      else {
        words.push(to.field, "");
        place(call, to.key);
      }
      words.push(from === undefined ? "" : String(from), wide(limit), wide(budget));
      break;
    }
    case "hash":
    case "size":
    case "expiry":
    case "distinct":
    case "exists":
      words.push(read.read);
      place(call, read.key);
  }
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
  const { words } = call;
  words.push(check.check);
  place(call, check.key);
  switch (check.check) {
    case "field": {
      const fields = [check];
      for (let next = checks[nth + 1]; next?.check === "field" && next.key === check.key;) {
        fields.push(next);
        next = checks[nth + fields.length];
      }
      addList(
        words,
        fields.map(({ field }) => field),
      );
      for (const { is } of fields) addValues(words, is);
      return fields.length;
    }
    case "score":
      words.push(check.member);
      addValues(words, check.is);
      return 1;
    case "key":
      words.push(check.exists ? "1" : "0");
      return 1;
  }
}

function addValues(words: string[], values: readonly (string | number | null)[]): void {
  words.push(String(values.length));
  for (const value of values) words.push(value === null ? "" : `=${value}`);
}

function addWrites(call: Call, writes: readonly Write[]): void {
  call.words.push(String(writes.length));
  for (const write of writes) addWrite(call, write);
}

function addWrite(call: Call, write: Write): void {
  const { words } = call;
  words.push(write.write === "put" ? (write.mode ?? "put") : write.write);
  place(call, write.key);
  switch (write.write) {
    case "set":
      words.push(String(write.fields.length * 2));
      for (const [field, value] of write.fields) words.push(field, value);
      break;
    case "put":
      words.push(String(write.members.length * 2));
      for (const [member, score] of write.members) words.push(bound(score), member);
      break;
    case "remove":
      addList(words, write.fields);
      break;
    case "take":
    case "count":
      addList(words, write.members);
      break;
    case "trim":
      words.push(bound(write.belowScore));
      break;
    case "expire":
      words.push(String(write.inMs));
      break;
    case "end":
      words.push(String(write.atMs));
      break;
    case "drop":
  }
}

function addList(words: string[], list: readonly string[]): void {
  words.push(String(list.length));
  for (const word of list) words.push(word);
}

function bound(score: number): string {
  if (score === Infinity) return "+inf";
  return score === -Infinity ? "-inf" : String(score);
}

/** Lua reads no Infinity. */
function wide(number: number): string {
  return String(Math.min(number, Number.MAX_SAFE_INTEGER));
}
