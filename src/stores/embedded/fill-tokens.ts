import { isObject } from "../checks.ts";
import { readText } from "../records.ts";
import type { EmbeddedDb, Key } from "./db.ts";
import type { UserRecords } from "./user-records.ts";

/*
 * Adds tokens of versions without this list to the lists of their users, in one walk over all tokens. The mark has
 * the key to continue from.
 */
const FILLED: Key = ["filledtokens"];
const FILLED_ALL = "done";
const AT_ONCE = 500;

export function areTokensKnown(db: Pick<EmbeddedDb, "get">): boolean {
  return db.get(FILLED, readText) === FILLED_ALL;
}

/** Notes the next tokens. False: all are noted. */
export async function fillTokens(db: EmbeddedDb, users: UserRecords): Promise<boolean> {
  if (areTokensKnown(db)) return false;
  return db.change("note users' tokens", () => {
    const mark = db.get(FILLED, readText);
    const from: Key = ["v", ...(mark === undefined ? [] : partsOf(mark))];
    const page = [...db.range(["v"], (value) => value, { from, limit: AT_ONCE + 1 })];
    for (const { key, value } of page.slice(0, AT_ONCE)) {
      if (isObject(value)) users.noteToken(String(key[1]), String(value["userId"]), String(key[2]));
    }
    const next = page[AT_ONCE]?.key;
    db.put(FILLED, next ? JSON.stringify(next.slice(1)) : FILLED_ALL);
    return true;
  });
}

function partsOf(mark: string): string[] {
  const parts: unknown = JSON.parse(mark);
  return Array.isArray(parts) ? parts.map(String) : [];
}
