import { shortDisplayName } from "../domain/people/user.ts";
import type { User } from "../domain/people/user.ts";
import type { Page, PlacedUser, UserPage, UserStore } from "../store.ts";
import { note } from "./acting.ts";
import type { Acting } from "./acting.ts";

export interface UserChange {
  blocked?: boolean;
  whitelisted?: boolean;
  /** null removes the name. */
  displayName?: string | null;
}

/** Changes the given fields. Null: the user is gone. */
export async function changeUser(
  acting: Acting<Pick<UserStore, "flagUser" | "renameUser">>,
  slug: string,
  user: User,
  change: UserChange,
): Promise<User | null> {
  const { userId } = user;
  const { displayName, ...flags } = change;
  for (const action of actionsOf(change)) await note(acting, { action, target: userId, slug });
  let changed: User | null = user;
  if (Object.keys(flags).length > 0) changed = await acting.store.flagUser(slug, userId, flags);
  if (displayName !== undefined) changed = await acting.store.renameUser(slug, userId, displayName);
  return changed;
}

/** Ends all visitor tokens of the user. False: the user is gone. */
export async function revokeUser(
  acting: Acting<Pick<UserStore, "revokeTokens">>,
  slug: string,
  userId: string,
): Promise<boolean> {
  await note(acting, { action: "users.revoke", target: userId, slug });
  return acting.store.revokeTokens(slug, userId);
}

/** The action's name on the command line. */
function actionsOf({ blocked, whitelisted, displayName }: UserChange): string[] {
  return [
    ...(blocked === undefined ? [] : [blocked ? "users.block" : "users.unblock"]),
    ...(whitelisted === undefined ? [] : [whitelisted ? "users.whitelist" : "users.unwhitelist"]),
    ...(displayName === undefined ? [] : ["users.rename"]),
  ];
}

/** A user as operators see one. `createdAt`: only if a list gives it. */
export function userView(user: User) {
  return {
    userId: user.userId,
    externalUserId: user.externalId,
    displayName: user.displayName === null ? null : shortDisplayName(user.displayName),
    blocked: user.blocked,
    whitelisted: user.whitelisted,
  };
}

/** Users per read when all are wanted. */
const AT_ONCE = 500;

/** All users of a channel, page by page; no page is empty. */
export async function* pagesOfUsers(
  store: Pick<UserStore, "usersPage">,
  slug: string,
  order: UserPage["order"],
): AsyncIterable<PlacedUser[]> {
  for (let after: string | null = null; ;) {
    const page: Page<PlacedUser> = await store.usersPage(slug, { limit: AT_ONCE, after, order });
    if (page.items.length > 0) yield page.items;
    if (page.next === null) return;
    after = page.next;
  }
}
