import { isReadable } from "../checks.ts";
import type { Engine } from "../engine.ts";
import { fieldIs } from "../steps/field-is.ts";
import { USER_FIELDS, userFrom } from "../steps/users/user-record.ts";
import { externalId, tables, USER } from "../tables.ts";
import { keyIs, mending, put, take } from "./checker.ts";
import type { Checker, Fault } from "./checker.ts";

/** Rules for users, their lists, and what their external ids lead to. The user decides. */
export function userCheckers(
  engine: Engine,
  nowMs: () => number,
): Record<"user" | "users" | "blocked" | "external", Checker[]> {
  const mend = mending(engine);

  /** If it leads to another user, it is that one's, or has a rule of its own. */
  async function accountFaults(slug: string, userId: string, external: string | null): Promise<Fault[]> {
    if (external === null) return [];
    const user = tables.user.key(slug, userId);
    const leads = tables.external.key(slug, externalId(external));
    const [[account = null]] = await engine.read([{ read: "fields", key: leads, fields: ["user"] }]);
    if (account !== null) return [];
    const checks = [fieldIs(user, USER.external, external), fieldIs(leads, "user", null)];
    const repair = mend(checks, { write: "set", key: leads, fields: [["user", userId]] });
    return [{ rule: "account is not reached", what: user, mend: repair }];
  }

  const user: Checker = {
    of: "key",
    async look({ key, tag: slug, id: userId }) {
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
      // A thousand places for each millisecond.
      const newest = nowMs() * 1000;
      if (place === null) {
        const repair = mend([keyIs(key, true)], put(users, userId, newest, "new"));
        found.push({ rule: "user is not listed", what: key, mend: repair });
      }
      if (isBlocked === "1" && blockedPlace === null) {
        const repair = mend([fieldIs(key, USER.blocked, "1")], put(blocked, userId, place ?? newest, "new"));
        found.push({ rule: "blocked user is not listed", what: key, mend: repair });
      }
      return found;
    },
  };

  const users: Checker = {
    of: "members",
    async look({ key, tag: slug }, members) {
      const ids = members.map(([userId]) => ({ userId, what: tables.user.key(slug, userId) }));
      const isThere = await engine.read(ids.map(({ what }) => ({ read: "exists" as const, key: what })));
      return ids
        .filter((_, nth) => !isThere[nth])
        .map(({ userId, what }) => {
          const repair = mend([keyIs(what, false)], take(key, userId));
          return { rule: "listed user is gone", what, entry: userId, mend: repair };
        });
    },
  };

  const blocked: Checker = {
    of: "members",
    async look({ key, tag: slug }, members) {
      const ids = members.map(([userId]) => ({ userId, user: tables.user.key(slug, userId) }));
      const flags = await engine.read(
        ids.map((one) => ({ read: "fields" as const, key: one.user, fields: [USER.blocked] })),
      );
      return ids.flatMap((one, nth): Fault[] => {
        const flag = flags[nth]?.[0] ?? null;
        if (flag === "1") return [];
        const { userId: entry } = one;
        const repair = mend([fieldIs(one.user, USER.blocked, flag)], take(key, entry));
        return [{ rule: "listed user is not blocked", what: `${key} ${entry}`, entry, mend: repair }];
      });
    },
  };

  // To a user without that external id: a promotion was stopped. Nobody else can have the id until this is gone.
  const external: Checker = {
    of: "key",
    async look({ key, tag: slug, id }) {
      const [[userId = null]] = await engine.read([{ read: "fields", key, fields: ["user"] }]);
      if (userId === null) return [];
      const account = tables.user.key(slug, userId);
      const [[text = null]] = await engine.read([{ read: "fields", key: account, fields: [USER.external] }]);
      if (text !== null && externalId(text) === id) return [];
      const checks = [fieldIs(key, "user", userId), fieldIs(account, USER.external, text)];
      const repair = mend(checks, { write: "drop", key });
      return [{ rule: "external id leads to nobody", what: key, mend: repair }];
    },
  };

  return { user: [user], users: [users], blocked: [blocked], external: [external] };
}
