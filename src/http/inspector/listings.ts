import { Refusal } from "../../domain/refusal.ts";
import type { ChannelView, ThreadEntryView, UserView } from "../../inspector/views.ts";
import type { Store } from "../../store.ts";

/** What the inspector's page offers to choose from: newest first, of long lists the newest. */
const OFFERED = 200;

export async function channelViews(store: Pick<Store, "channels">): Promise<ChannelView[]> {
  return (await store.channels(() => {})).map(({ slug, kind }) => ({ slug, kind }));
}

export async function userViews(store: Pick<Store, "usersPage">, slug: string): Promise<UserView[]> {
  const page = { limit: OFFERED, after: null, order: "newest first" } as const;
  return (await store.usersPage(slug, page)).items.map(({ user: { userId, externalId, displayName } }) => ({
    userId,
    externalUserId: externalId,
    displayName,
  }));
}

/** `userId`: ours, or the caller's own id of the user. */
export async function threadViews(
  store: Pick<Store, "findUser" | "threads">,
  slug: string,
  userId: string,
): Promise<ThreadEntryView[]> {
  const user = await store.findUser(slug, userId);
  if (user === null) throw new Refusal("not-found", "No such user");
  return newest(await store.threads(slug, user.userId)).map(({ uid, threadId, createdAtMs }) => ({
    id: uid,
    threadId,
    createdAt: createdAtMs,
  }));
}

function newest<Item>(items: readonly Item[]): Item[] {
  return items.slice(-OFFERED).reverse();
}
