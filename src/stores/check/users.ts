import { isReadable } from "../checks.ts";
import type { Engine } from "../engine.ts";
import { fieldIs } from "../steps/field-is.ts";
import { USER_FIELDS, userFrom } from "../steps/users/user-record.ts";
import { externalId, PLACES_PER_MS, tables, USER } from "../tables.ts";
import { keyChecker, keyIs, membersChecker, mending, put, set, take } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";

/** Rules for users, their lists, and what their external ids lead to. The user decides. */
export function userCheckers(
  engine: Engine,
  nowMs: () => number,
): Record<"user" | "users" | "blocked" | "external", Checker[]> {
  /** If it leads to another user, it is that one's, or has a rule of its own. */
  async function accountFaults(slug: string, userId: string, external: string | null): Promise<Fault[]> {
    if (external === null) return [];
    const user = tables.user.key(slug, userId);
    const leads = tables.external.key(slug, externalId(external));
    const [[account = null]] = await engine.read([{ read: "fields", key: leads, fields: ["user"] }]);
    if (account !== null) return [];
    const checks = [fieldIs(user, USER.external, external), fieldIs(leads, "user", null)];
    const mend = mending(engine, checks, set(leads, "user", userId));
    return [{ rule: "account is not reached", what: user, mend }];
  }

  const user = keyChecker(async ({ key, tag: slug, id: userId }) => {
    const [users, blocked] = [tables.users.key(slug), tables.blocked.key(slug)];
    const [isThere, fields, [place = null], [blockedPlace = null]] = await engine.read([
      { read: "exists", key },
      { read: "fields", key, fields: USER_FIELDS },
      { read: "scores", key: users, members: [userId] },
      { read: "scores", key: blocked, members: [userId] },
    ]);
    if (!isThere) return [];
    const [id = null, external = null, , isBlocked] = fields;
    const found = await accountFaults(slug, userId, external);
    if (id === null || !isReadable(() => userFrom(fields))) {
      found.push({ rule: "record cannot be read", what: key });
    }
    const newest = nowMs() * PLACES_PER_MS;
    if (place === null) {
      const mend = mending(engine, [keyIs(key, true)], put(users, userId, newest, "new"));
      found.push({ rule: "user is not listed", what: key, mend });
    }
    if (isBlocked === "1" && blockedPlace === null) {
      const checks = [fieldIs(key, USER.blocked, "1")];
      const mend = mending(engine, checks, put(blocked, userId, place ?? newest, "new"));
      found.push({ rule: "blocked user is not listed", what: key, mend });
    }
    return found;
  });

  const users = membersChecker(engine, async ({ key, tag: slug }, members) => {
    const ids = members.map(([userId]) => ({ userId, what: tables.user.key(slug, userId) }));
    const isThere = await engine.read(ids.map(({ what }) => ({ read: "exists" as const, key: what })));
    return ids
      .filter((_, nth) => !isThere[nth])
      .map(({ userId, what }) => {
        const mend = mending(engine, [keyIs(what, false)], take(key, userId));
        return { rule: "listed user is gone", what, entry: userId, mend };
      });
  });

  const blocked = membersChecker(engine, async ({ key, tag: slug }, members) => {
    const ids = members.map(([userId]) => ({ userId, user: tables.user.key(slug, userId) }));
    const flags = await engine.read(
      ids.map((one) => ({ read: "fields" as const, key: one.user, fields: [USER.blocked] })),
    );
    return ids.flatMap((one, nth): Fault[] => {
      const flag = flags[nth]?.[0] ?? null;
      if (flag === "1") return [];
      const { userId: entry } = one;
      const mend = mending(engine, [fieldIs(one.user, USER.blocked, flag)], take(key, entry));
      return [{ rule: "listed user is not blocked", what: `${key} ${entry}`, entry, mend }];
    });
  });

  // To a user without that external id: a promotion was stopped. Nobody else can have the id until this is gone.
  const external = keyChecker(async ({ key, tag: slug, id }) => {
    const [[userId = null]] = await engine.read([{ read: "fields", key, fields: ["user"] }]);
    if (userId === null) return [];
    const account = tables.user.key(slug, userId);
    const [[text = null]] = await engine.read([{ read: "fields", key: account, fields: [USER.external] }]);
    if (text !== null && externalId(text) === id) return [];
    const checks = [fieldIs(key, "user", userId), fieldIs(account, USER.external, text)];
    const mend = mending(engine, checks, { write: "drop", key });
    return [{ rule: "external id leads to nobody", what: key, mend }];
  });

  return { user: [user], users: [users], blocked: [blocked], external: [external] };
}
