import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const source = readFileSync(new URL("apply.lua", import.meta.url), "utf8");

/** The version of the functions: a different text is a different library, and both can be loaded side by side. */
const version = createHash("sha256").update(source).digest("hex").slice(0, 16);

/** The library as it is sent to Redis. */
export const library = `#!lua name=chat_agent_${version}\nlocal VERSION = '${version}'\n${source}`;

const APPLY = `apply_${version}`;
const READ = `read_${version}`;
const LEAVE_TRACE = `leave_trace_${version}`;

/** A call of a function: its keys, all in one slot, and its words (apply.lua, encode.ts). */
export function functionCall(name: "apply" | "read", keys: readonly string[], words: string[]): string[] {
  const beginning = name === "apply" ? ["FCALL", APPLY] : ["FCALL_RO", READ];
  return [...beginning, String(keys.length), ...keys, ...words];
}

/** A key that exists only during a step, if at all; the tag decides its slot. */
export function traceKey(tag: string): string {
  return `trace:{${tag}}`;
}

/** A write that leaves nothing behind. */
export function traceCall(key: string): string[] {
  return ["FCALL", LEAVE_TRACE, "1", key];
}

/**
 * The same call for a node that its slot is moving to. Redis checks the declared keys before a function begins, and
 * takes missing keys for keys on another node: so only one key is declared.
 */
export function onArrivingSlot(call: readonly string[]): string[] {
  const [verb = "", name = "", count = "", first = "", ...rest] = call;
  return name === LEAVE_TRACE ? [...call] : [verb, `arriving_${name}`, "1", first, count, first, ...rest];
}

/** The keys of a function call; of any other command, none. */
export function keysOf([verb, , count, ...rest]: readonly string[]): string[] {
  return verb === "FCALL" || verb === "FCALL_RO" ? rest.slice(0, Number(count)) : [];
}
