import type { User } from "../domain/people/user.ts";
import type { UserPage, UserStore } from "../store.ts";

export interface UserSearch {
  /** Part of an id or a name, in any case; empty: all users. */
  text: string;
  /** False: names are not searched. */
  seesNames: boolean;
  blocked: boolean | null;
  anonymous: boolean | null;
}

/** Users that one request reads: on either store that takes some tens of milliseconds. */
const LOOKED_AT = 2_000;
const LOOKED_AT_ONCE = 200;

/**
 * A page of matching users. It may have fewer than `limit`, even none, and still have a next page: a search among a
 * million users continues with each requested page. A user whose full id is the text comes first, at once.
 */
export async function searchUsers(
  store: Pick<UserStore, "usersPage" | "findUser">,
  slug: string,
  { limit, after: from, order }: UserPage,
  search: UserSearch,
): Promise<{ users: User[]; next: string | null }> {
  const named = search.text === "" ? null : await store.findUser(slug, search.text);
  const users = from === null && named && fits(named, search) ? [named] : [];
  const isEverybody = search.text === "" && search.blocked === null && search.anonymous === null;
  const atOnce = isEverybody ? limit : LOOKED_AT_ONCE;
  let after = from;
  for (let lookedAt = 0; lookedAt < LOOKED_AT && users.length < limit; lookedAt += atOnce) {
    const page = await store.usersPage(slug, {
      limit: atOnce,
      after,
      order,
      blocked: search.blocked === true,
    });
    for (const { user, place } of page.items) {
      if (users.length === limit) return { users, next: after };
      after = place;
      if (user.userId !== named?.userId && fits(user, search)) users.push(user);
    }
    after = page.next;
    if (after === null) break;
  }
  return { users, next: after };
}

function fits(user: User, { text, seesNames, blocked, anonymous }: UserSearch): boolean {
  if (blocked !== null && user.blocked !== blocked) return false;
  if (anonymous !== null && (user.externalId === null) !== anonymous) return false;
  const sought = text.toLowerCase();
  const looked = [user.userId, user.externalId, seesNames ? user.displayName : null];
  return looked.some((one) => one !== null && one.toLowerCase().includes(sought));
}
