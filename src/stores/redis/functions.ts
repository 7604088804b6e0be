import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { changing, reading } from "./signatures.ts";
import type { StoreFunction, StoreReading } from "./signatures.ts";

/** In the order in which they are joined: each may use those before it. */
const FILES = [
  "shared",
  "format",
  "channels",
  "users",
  "operators",
  "stats",
  "instances",
  "threads",
  "outbox",
  "backup",
  "moves",
];

const source = FILES.map((name) =>
  readFileSync(new URL(`functions/${name}.lua`, import.meta.url), "utf8"),
).join("\n");

/** The version of the functions: a different text is a different library, and both can be loaded side by side. */
const version = createHash("sha256").update(source).digest("hex").slice(0, 16);

/** The library as it is sent to Redis. */
export const library = `#!lua name=chat_agent_${version}\nlocal VERSION = '${version}'\n${source}`;

/** A call as it is sent, and its first key, which decides where it goes. */
export interface FunctionCall {
  key: string;
  command: string[];
}

type Name = StoreFunction | StoreReading;

/** The beginning of each function's call, made once: the command, the versioned name, the number of keys. */
const beginnings = new Map(
  [
    ...Object.entries(changing).map(([name, signature]) => ({ verb: "FCALL", name, signature })),
    ...Object.entries(reading).map(([name, signature]) => ({ verb: "FCALL_RO", name, signature })),
  ].map(({ verb, name, signature }) => {
    const { keys, args }: { keys: readonly string[]; args: readonly string[] } = signature;
    return [name, { words: [verb, `${name}_${version}`, String(keys.length)], keys, args }];
  }),
);

/** `list`: what follows the named arguments. */
export function functionCall(
  name: Name,
  keys: Readonly<Record<string, string>>,
  args: Readonly<Record<string, string>>,
  list: readonly string[] = [],
): FunctionCall {
  const beginning = beginnings.get(name);
  if (!beginning) throw new Error(`Cannot call ${name}: there is no such function`);
  const command = [...beginning.words];
  for (const key of beginning.keys) command.push(keys[key] ?? "");
  for (const arg of beginning.args) command.push(args[arg] ?? "");
  command.push(...list);
  return { key: command[beginning.words.length] ?? "", command };
}

/**
 * The same call for a node that its slot is moving to. Redis checks the declared keys before a function begins, and
 * takes missing keys for keys on another node: so only one key is declared.
 */
export function onArrivingSlot(call: readonly string[]): string[] {
  const [, name = "", count = "0", first = "", ...rest] = call;
  return ["FCALL", `on_arriving_slot_${version}`, "1", first, name, count, first, ...rest];
}

/** The keys of a function call; of any other command, none. */
export function keysOf([verb, , count, ...rest]: readonly string[]): string[] {
  return verb === "FCALL" || verb === "FCALL_RO" ? rest.slice(0, Number(count)) : [];
}
