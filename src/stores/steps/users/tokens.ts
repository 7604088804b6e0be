import type { RenamedThread } from "../../../domain/threads/renamed-threads.ts";
import type { UserStore } from "../../../store.ts";
import type { Check, Engine, Pair, Write } from "../../engine.ts";
import { tables, TOKEN, USER } from "../../tables.ts";
import { fieldIs } from "../field-is.ts";
import { noteChange } from "../notice.ts";
import { untilApplied } from "../until-applied.ts";
import type { Known } from "../known.ts";
import type { Places } from "./places.ts";
import { flag, slotOfChannel } from "./user-record.ts";

/** What is known of a token; the user may be another one by now. */
export interface KnownToken {
  userId: string;
  endsAtMs: number | null;
  /** A name of its page for a thread, and the account's name for it. */
  renamed?: RenamedThread;
}

type Tokens = Pick<
  UserStore,
  "mintVisitor" | "rotateToken" | "revokeTokens" | "renamedThreads" | "mendToken" | "hasValidToken"
>;

/** What was set aside of a token is kept for a month. */
const ASIDE_MS = 30 * 86_400_000;
/** Tokens that are read at once. */
const AT_ONCE = 500;
const PREFIX = TOKEN.renamed("");

/** Visitor tokens. A token belongs to the user that it names; the user's list only says which tokens to look at. */
export function tokenSteps(
  engine: Engine,
  {
    known,
    places,
    onRotated,
  }: {
    known: Known<KnownToken>;
    places: Places;
    onRotated: (tokenHash: string) => void;
  },
): Tokens {
  return {
    // The token last: it leads to the user.
    async mintVisitor({ slug, tokenHash, userId, snapshot, ttlMs, atMs, endsAtMs = null }) {
      const user = tables.user.key(slug, userId);
      const token = tables.token.key(slug, tokenHash);
      await engine.apply({
        slot: slotOfChannel(slug),
        checks: [],
        writes: [
          { write: "put", key: tables.users.key(slug), members: [[userId, places(atMs)]], mode: "new" },
          {
            write: "set",
            key: user,
            fields: [
              [USER.id, userId],
              [USER.blocked, flag(false)],
              [USER.whitelisted, flag(false)],
            ],
          },
          { write: "set", key: tables.tokens.key(slug, userId), fields: [[tokenHash, ""]] },
          ...tokenWrites(
            token,
            [
              [TOKEN.user, userId],
              [TOKEN.snapshot, snapshot],
            ],
            { ttlMs, endsAtMs },
          ),
        ],
      });
      known.set(token, { userId, endsAtMs });
    },

    async rotateToken({ slug, tokenHash, userId, newTokenHash, ttlMs, endsAtMs = null }) {
      const user = tables.user.key(slug, userId);
      const [token, fresh] = [tables.token.key(slug, tokenHash), tables.token.key(slug, newTokenHash)];
      const tokens = tables.tokens.key(slug, userId);
      const isRotated = await untilApplied("rotate a token", async () => {
        const [fields, [id, revocations = null]] = await engine.read([
          { read: "hash", key: token },
          { read: "fields", key: user, fields: [USER.id, USER.revocations] },
        ]);
        const bound = new Map(fields);
        const isBound = id !== null && bound.get(TOKEN.user) === userId;
        if (!isBound || !isSameCount(bound.get(TOKEN.revocations), revocations)) return false;
        const kept = fields.filter(([field]) => field !== TOKEN.ends);
        const applied = await engine.apply({
          slot: slotOfChannel(slug),
          checks: [
            fieldIs(user, USER.id, userId),
            fieldIs(user, USER.revocations, revocations),
            fieldIs(token, TOKEN.user, userId),
            fieldIs(token, TOKEN.snapshot, bound.get(TOKEN.snapshot) ?? null),
          ],
          writes: [
            { write: "set", key: tokens, fields: [[newTokenHash, ""]] },
            ...tokenWrites(fresh, kept, { ttlMs, endsAtMs }),
            { write: "remove", key: tokens, fields: [tokenHash] },
            { write: "drop", key: token },
          ],
        });
        return applied.type === "failed" ? undefined : true;
      });
      if (!isRotated) return false;
      known.forget(token);
      known.set(fresh, { userId, endsAtMs });
      onRotated(tokenHash);
      return true;
    },

    async revokeTokens(slug, userId) {
      const key = tables.user.key(slug, userId);
      const isRevoked = await untilApplied("revoke a user's tokens", async () => {
        const [[id, count = null]] = await engine.read([
          { read: "fields", key, fields: [USER.id, USER.revocations] },
        ]);
        if (id === null) return false;
        const applied = await engine.apply({
          slot: slotOfChannel(slug),
          checks: [fieldIs(key, USER.id, userId), fieldIs(key, USER.revocations, count)],
          writes: [{ write: "set", key, fields: [[USER.revocations, String(Number(count ?? 0) + 1)]] }],
        });
        return applied.type === "failed" ? undefined : true;
      });
      if (isRevoked) await noteChange(engine);
      return isRevoked;
    },

    async renamedThreads(slug, tokenHash) {
      const [fields] = await engine.read([{ read: "hash", key: tables.token.key(slug, tokenHash) }]);
      return fields
        .filter(([field]) => field.startsWith(PREFIX))
        .map(([field, stored]) => ({ said: field.slice(PREFIX.length), stored }));
    },

    async mendToken({ slug, tokenHash, unreadable, snapshot }) {
      const [token, aside] = [tables.token.key(slug, tokenHash), tables.asideToken.key(slug, tokenHash)];
      await engine.apply({
        slot: slotOfChannel(slug),
        checks: [fieldIs(token, TOKEN.snapshot, unreadable)],
        writes: [
          { write: "set", key: aside, fields: [["snapshot", unreadable]] },
          { write: "expire", key: aside, inMs: ASIDE_MS },
          { write: "set", key: token, fields: [[TOKEN.snapshot, snapshot]] },
        ],
      });
    },

    async hasValidToken(slug, userId) {
      const tokens = tables.tokens.key(slug, userId);
      const [listed, [revocations]] = await engine.read([
        { read: "hash", key: tokens },
        { read: "fields", key: tables.user.key(slug, userId), fields: [USER.revocations] },
      ]);
      for (let from = 0; from < listed.length; from += AT_ONCE) {
        const hashes = listed.slice(from, from + AT_ONCE).map(([hash]) => hash);
        const found = await engine.read(
          hashes.map((hash) => ({
            read: "fields" as const,
            key: tables.token.key(slug, hash),
            fields: [TOKEN.user, TOKEN.revocations],
          })),
        );
        const own = found.filter(([holder]) => holder === userId);
        if (own.some(([, count]) => isSameCount(count, revocations))) return true;
        const ended: string[] = [];
        const checks: Check[] = [];
        for (const [nth, hash] of hashes.entries()) {
          const holder = found[nth]?.[0] ?? null;
          if (holder === userId) continue;
          ended.push(hash);
          checks.push(fieldIs(tables.token.key(slug, hash), TOKEN.user, holder));
        }
        const writes: Write[] = [{ write: "remove", key: tokens, fields: ended }];
        if (ended.length > 0) await engine.apply({ slot: slotOfChannel(slug), checks, writes });
      }
      return false;
    },
  };
}

/** Erases the tokens that the user's list names and that are still the user's, and what was set aside of them. */
export async function eraseTokensOf(engine: Engine, slug: string, userId: string): Promise<void> {
  for await (const listed of engine.hashPages(tables.tokens.key(slug, userId))) {
    await Promise.all(
      listed.map(([hash]) => {
        const token = tables.token.key(slug, hash);
        const checks: Check[] = [fieldIs(token, TOKEN.user, userId)];
        const writes: Write[] = [
          { write: "drop", key: tables.asideToken.key(slug, hash) },
          { write: "drop", key: token },
        ];
        return engine.apply({ slot: slotOfChannel(slug), checks, writes });
      }),
    );
  }
}

/** A token is valid while its count of revocations is its user's. */
export function isSameCount(of: string | null | undefined, user: string | null | undefined): boolean {
  return (of ?? "0") === (user ?? "0");
}

/** The lifetime of a token that is used now. */
export function slidingWrites(key: string, ttlMs: number, endsAtMs: number | null): Write[] {
  const sliding: Write = { write: "expire", key, inMs: ttlMs };
  return endsAtMs === null ? [sliding] : [sliding, { write: "end", key, atMs: endsAtMs }];
}

function tokenWrites(
  key: string,
  fields: readonly Pair[],
  { ttlMs, endsAtMs }: { ttlMs: number; endsAtMs: number | null },
): Write[] {
  const ends: Pair[] = endsAtMs === null ? [] : [[TOKEN.ends, String(endsAtMs)]];
  return [{ write: "set", key, fields: [...fields, ...ends] }, ...slidingWrites(key, ttlMs, endsAtMs)];
}
