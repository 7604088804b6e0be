import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import type { Ran } from "../../support/terminal.ts";
import { runCommand } from "../../support/terminal.ts";

/** Where a store is, as the command line is told. */
export type StoreEnv = Record<string, string>;

export async function store(env: StoreEnv, ...args: string[]): Promise<Ran> {
  return runCommand(env, ["store", ...args]);
}

/** Must succeed; what it printed. */
export async function storeJson(env: StoreEnv, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await store(env, ...args, "--json");
  if (code !== 0 || err !== "") throw new Error(`Cannot store ${args.join(" ")}: ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}

/** The lines of a backup, parsed. */
export function linesOf(file: string): Record<string, unknown>[] {
  const text = gunzipSync(readFileSync(file)).toString();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
