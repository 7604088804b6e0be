import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { changing, reading } from "./signatures.ts";
import type { StoreFunction, StoreReading } from "./signatures.ts";

/** In the order in which they are joined: each knows what stands before it. */
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

/** Names this version of the functions: another text is another library, and both live side by side. */
const version = createHash("sha256").update(source).digest("hex").slice(0, 16);

/** The library as Redis takes it. */
export const library = `#!lua name=chat_agent_${version}\nlocal VERSION = '${version}'\n${source}`;

/** A call as it travels, and the first of its keys, which says where it goes. */
export interface FunctionCall {
  key: string;
  command: string[];
}

type Name = StoreFunction | StoreReading;

/** How the call of each function begins, made once: the command, the function's name in this version, how many keys. */
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
 * The same call for a node that its slot is moving to. Redis looks for declared keys before a function begins, and takes
 * those that do not exist for keys that are elsewhere: only one is declared.
 */
export function onArrivingSlot(call: readonly string[]): string[] {
  const [, name = "", count = "0", first = "", ...rest] = call;
  return ["FCALL", `on_arriving_slot_${version}`, "1", first, name, count, first, ...rest];
}

/** The keys of a call; none of another command. */
export function keysOf([verb, , count, ...rest]: readonly string[]): string[] {
  return verb === "FCALL" || verb === "FCALL_RO" ? rest.slice(0, Number(count)) : [];
}
