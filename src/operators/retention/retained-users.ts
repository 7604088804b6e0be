import type { PlacedUser } from "../../store.ts";
import { sweepEach } from "./retention-sweep.ts";
import type { Sweep } from "./retention-sweep.ts";

/** In a channel with a million users a walk over all of them takes about three hours. */
const USERS_AT_ONCE = 200;

/**
 * A page of the walk over a channel's users, the oldest first. Removes an anonymous user to whom nobody has access any
 * more: at once if there is no thread, else when the latest activity in one is past its date. True: the walk continues.
 */
export async function sweepUsers(sweep: Sweep, untilMs: number): Promise<boolean> {
  const { slug, store, progress } = sweep;
  const after = await store.sweepPlace(slug);
  const page = { limit: USERS_AT_ONCE, after, order: "oldest first" as const };
  const { items, next } = await store.usersPage(slug, page);
  const anonymous = items.filter(({ user }) => user.externalId === null);
  const [firstLeft] = await sweepEach(sweep, anonymous, (placed) => sweepUser(sweep, placed, untilMs));
  const seen = firstLeft === undefined ? items.length : items.indexOf(firstLeft);
  progress.usersSeen(slug, seen);
  if (firstLeft !== undefined) {
    const last = items[sweep.isStuck(firstLeft.place) ? seen : seen - 1];
    if (last) await store.setSweepPlace(slug, last.place);
    return true;
  }
  if (next !== null || after !== null) await store.setSweepPlace(slug, next);
  return next !== null;
}

async function sweepUser(sweep: Sweep, { user }: PlacedUser, untilMs: number): Promise<void> {
  const { slug, store, forgets, note, progress } = sweep;
  const { userId } = user;
  if (await store.hasValidToken(slug, userId)) return;
  const [latest] = (await store.listThreads({ slug, userId, limit: 1, after: null })).items;
  if (latest && (latest.updatedAtMs > untilMs || latest.state === "running")) return;
  if (latest && (await store.waitingRuns(latest.uid)).length > 0) return;
  if (!latest && (await store.dropSilentVisitor(slug, userId))) return progress.deleted(slug, "visitor");
  await note({ action: "users.delete", target: userId, slug });
  await forgets.user(slug, userId);
}
