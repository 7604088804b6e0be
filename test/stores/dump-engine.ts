import type { Engine } from "../../src/stores/engine.ts";
import { HEADER, tables, USER } from "../../src/stores/tables.ts";
import { walk } from "../../src/stores/walk.ts";
import type { WalkedKey } from "../../src/stores/walk.ts";

/** What passes: heartbeats, who watches a thread until when, and how often something changed. */
const PASSING = new Set(["instances", "watchers", "changes"]);
/** What a header has for the repeat of the last operation. */
const REPEATS = new Set<string>([HEADER.op, HEADER.opNext, HEADER.rated]);

/** Every key of the store with what it holds, as it is stored and in an order of its own; without what passes. */
export async function dumpEngine(engine: Engine): Promise<Record<string, unknown>> {
  const dump: [key: string, value: unknown][] = [];
  for await (const page of walk(engine)) {
    for (const walked of page.filter(({ table }) => !PASSING.has(table))) {
      const [expiresAtMs] = await engine.read([{ read: "expiry", key: walked.key }]);
      const entries = (await entriesOf(engine, walked)).filter(([name, value]) => says(walked, name, value));
      const held = Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
      if (entries.length > 0) dump.push([walked.key, { ...held, expires: expiresAtMs !== null }]);
    }
  }
  return Object.fromEntries(dump.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function entriesOf(
  engine: Engine,
  { table, key }: WalkedKey,
): Promise<(readonly [name: string, value: string | number])[]> {
  switch (tables[table].holds) {
    case "hash": {
      const [pairs] = await engine.read([{ read: "hash", key }]);
      return [...pairs];
    }
    case "sorted set": {
      const [members] = await engine.read([{ read: "range", key }]);
      // The place of a run is a revision, or comes from a backup: only the order counts.
      return table === "runOrder" ? members.map(([runId], nth) => [runId, nth]) : members;
    }
    case "sketch":
      return [["distinct", (await engine.read([{ read: "distinct", key }]))[0]]];
  }
}

function says({ table }: WalkedKey, name: string, value: string | number): boolean {
  if (table === "user") return name !== USER.threads;
  // An empty field of a header is as good as none.
  return table !== "header" || (value !== "" && !REPEATS.has(name));
}
