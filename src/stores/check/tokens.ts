import type { Engine } from "../engine.ts";
import { fieldIs } from "../steps/field-is.ts";
import { tables, TOKEN } from "../tables.ts";
import { keyChecker, keyIs, mending, orphanChecker, set } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";

const DAY_MS = 24 * 3_600_000;

/**
 * Rules for tokens. The token decides whose it is. A list may name tokens that have ended, or that another user has by now:
 * nothing removes them as they end, and whoever reads the list looks at the token too.
 */
export function tokenCheckers(engine: Engine): Record<"token" | "tokens", Checker[]> {
  const token = keyChecker(async ({ key, tag: slug, id: tokenHash }) => {
    const [isThere, [userId = null], endsAtMs] = await engine.read([
      { read: "exists", key },
      { read: "fields", key, fields: [TOKEN.user] },
      { read: "expiry", key },
    ]);
    if (!isThere) return [];
    const found: Fault[] = [];
    const isSame = fieldIs(key, TOKEN.user, userId);
    if (endsAtMs === null) {
      const mend = mending(engine, [isSame], { write: "expire", key, inMs: DAY_MS });
      found.push({ rule: "token never ends", what: key, mend });
    }
    // No user has the empty id.
    const user = tables.user.key(slug, userId ?? "");
    const tokens = tables.tokens.key(slug, userId ?? "");
    const [isUser, [listed = null]] = await engine.read([
      { read: "exists", key: user },
      { read: "fields", key: tokens, fields: [tokenHash] },
    ]);
    const checks = [isSame, keyIs(user, isUser)];
    if (!isUser) {
      const mend = mending(engine, checks, { write: "drop", key });
      found.push({ rule: "token leads to nobody", what: key, mend });
    } else if (listed === null) {
      const mend = mending(engine, checks, set(tokens, tokenHash, ""));
      found.push({ rule: "token is not listed", what: key, mend });
    }
    return found;
  });

  return { token: [token], tokens: [orphanChecker(engine, "listed tokens of nobody", tables.user.key)] };
}
