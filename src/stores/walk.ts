import type { Engine } from "./engine.ts";
import { partsOfKey, tables } from "./tables.ts";
import type { Plane } from "./tables.ts";

/** What a walk, a backup and a check read with: an engine, or one moment of it. */
export type Reader = Pick<Engine, "read" | "keys" | "hashPages" | "memberPages">;

export type TableName = keyof typeof tables;

export interface WalkedKey {
  table: TableName;
  key: string;
  /** The slug of a channel, or the bucket of a thread. */
  tag: string;
  /** Behind the tag: a uid, a user's id, …; empty if the table has one key for each tag. */
  id: string;
}

/** Names are unique within a plane. */
const TABLES = new Map<string, TableName>();
for (const [table, { plane, name }] of Object.entries(tables)) {
  if (isTable(table)) TABLES.set(`${plane} ${name}`, table);
}

function isTable(name: string): name is TableName {
  return Object.hasOwn(tables, name);
}

/** All keys of the store that exist during the whole walk, in pages and in no order; a key may come twice. */
export async function* walk(engine: Reader): AsyncIterable<WalkedKey[]> {
  for await (const keys of engine.keys("")) {
    const walked = keys.map(walkedKey).filter((key) => key !== null);
    if (walked.length > 0) yield walked;
  }
}

/** What the keys of a table of channels or threads begin with. */
export function prefixOf({ name, plane }: { name: string; plane: Plane }): string {
  return `${name}:{${plane}:`;
}

/** Null: not a name that this version uses. */
function walkedKey(key: string): WalkedKey | null {
  const parts = partsOfKey(key);
  const table = parts && TABLES.get(`${parts.plane} ${parts.name}`);
  return parts && table ? { table, key, tag: parts.tag, id: parts.id } : null;
}
