import type { User } from "../../../domain/people/user.ts";
import { pageOf } from "../../../store.ts";
import type { PlacedUser, UserPage, UserStore } from "../../../store.ts";
import type { Engine, Member } from "../../engine.ts";
import { tables } from "../../tables.ts";
import { threadEntryFrom, USER_FIELDS, userFrom } from "./user-record.ts";

/** Users that are read at once: a channel may have millions. */
const USERS_AT_ONCE = 500;

/** A channel's users by creation, and a user's names for threads. */
export function userLists(engine: Engine): Pick<UserStore, "users" | "usersPage" | "threads"> {
  /** Null: merged or deleted meanwhile. */
  async function recordsOf(slug: string, ids: readonly string[]): Promise<(User | null)[]> {
    const records = await engine.read(
      ids.map((id) => ({ read: "fields" as const, key: tables.user.key(slug, id), fields: USER_FIELDS })),
    );
    return records.map(userFrom);
  }

  return {
    async users(slug) {
      const [places] = await engine.read([{ read: "range", key: tables.users.key(slug) }]);
      const users: User[] = [];
      for (let from = 0; from < places.length; from += USERS_AT_ONCE) {
        const ids = places.slice(from, from + USERS_AT_ONCE).map(([id]) => id);
        users.push(...(await recordsOf(slug, ids)).filter((user) => user !== null));
      }
      return users;
    },

    // By place and not by number, because users are merged.
    async usersPage(slug, { limit, after, order, blocked = false }) {
      const from = after === null ? null : readPlace(after);
      if (after !== null && from === null) return { items: [], next: null };
      const key = blocked ? tables.blocked.key(slug) : tables.users.key(slug);
      const listed = await membersBehind(engine, key, { from, limit: limit + 1, order });
      const { items, next } = pageOf(
        listed.map(([id, score]) => ({ id, score, place: `${score}-${id}` })),
        limit,
      );
      const users = await recordsOf(
        slug,
        items.map(({ id }) => id),
      );
      const found = items.flatMap(({ score, place }, nth): PlacedUser[] => {
        const user = users[nth];
        return user ? [{ user, createdAtMs: Math.floor(score / 1000), place }] : [];
      });
      return { items: found, next };
    },

    async threads(slug, userId) {
      const [names] = await engine.read([{ read: "hash", key: tables.names.key(slug, userId) }]);
      return names
        .map(([name, entry]) => threadEntryFrom(name, entry))
        .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.threadId < b.threadId ? -1 : 1));
    },
  };
}

function readPlace(text: string): Member | null {
  const [, score, userId] = /^(\d{1,16})-(.+)$/s.exec(text) ?? [];
  return userId === undefined ? null : [userId, Number(score)];
}

/** Members behind a place, at most `limit`. */
async function membersBehind(
  engine: Engine,
  key: string,
  { from, limit, order }: { from: Member | null; limit: number; order: UserPage["order"] },
): Promise<Member[]> {
  const reverse = order === "newest first";
  const start = from === null ? {} : { [reverse ? "to" : "from"]: from[1] };
  for (let asked = limit + 1; ; asked *= 2) {
    const [met] = await engine.read([{ read: "range", key, ...start, reverse, limit: asked }]);
    const behind = met.filter((member) => from === null || isBehind(member, from, reverse));
    // All of them may have the score of the place and stand before it.
    if (behind.length >= limit || met.length < asked) return behind.slice(0, limit);
  }
}

/** Ids are ASCII: with the same score they are in the order of their bytes. */
function isBehind([id, score]: Member, [fromId, fromScore]: Member, reverse: boolean): boolean {
  if (score !== fromScore) return true;
  return reverse ? id < fromId : id > fromId;
}
