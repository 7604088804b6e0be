import type { Store } from "../../store.ts";
import { keyIdOf } from "./cipher.ts";
import { CannotUnwrap } from "./wrapping.ts";
import type { Wrapping } from "./wrapping.ts";

export interface Rekeyed {
  users: number;
  /** Now wrapped by the first key. */
  rekeyed: number;
  /** Were wrapped by it already. */
  asBefore: number;
  /** Removed: what they encrypted cannot be read any more. */
  forgotten: number;
  /** For each user whose key could not be wrapped: the reason. */
  failed: { user: string; reason: string }[];
  /** Keys of CONTENT_KEYS that wrap nothing now. */
  free: string[];
}

/** A merge may move keys to a user that the walk has passed: then the walk is repeated. */
const MOST_WALKS = 5;
const USERS_AT_ONCE = 500;

/** Wraps every user's key with the first key of CONTENT_KEYS, beside a running service. No text changes. */
export async function rekey(
  store: Pick<Store, "channels" | "usersPage" | "contentKeys">,
  { wrapping, forget }: { wrapping: Wrapping; forget: readonly string[] },
): Promise<Rekeyed> {
  const { contentKeys } = store;
  const { first } = wrapping;
  const done: Rekeyed = { users: 0, rekeyed: 0, asBefore: 0, forgotten: 0, failed: [], free: [] };
  if (!contentKeys) return done;
  const left = new Set<string>();

  /** True: the key has changed meanwhile. */
  async function renew(slug: string, userId: string, keyId: string, was: string): Promise<boolean> {
    const by = keyIdOf(was) ?? "";
    if (forget.includes(by)) {
      const isDone = await contentKeys?.replace({ slug, userId, keyId, was, wrapped: null });
      if (isDone) done.forgotten += 1;
      return !isDone;
    }
    if (first === null || by === first) {
      done.asBefore += 1;
      left.add(by);
      return false;
    }
    try {
      const wrapped = wrapping.wrap(keyId, wrapping.unwrap(keyId, was));
      if (done.rekeyed === 0) await contentKeys?.noteWrapper(first, wrapping.checkOf(first));
      const isDone = await contentKeys?.replace({ slug, userId, keyId, was, wrapped });
      if (isDone) done.rekeyed += 1;
      return !isDone;
    } catch (error) {
      if (!(error instanceof CannotUnwrap)) throw error;
      left.add(by);
      done.failed.push({ user: `${slug} ${userId}`, reason: error.message });
      return false;
    }
  }

  /** True: a key has changed meanwhile, or this walk changed one. */
  async function walk(): Promise<boolean> {
    Object.assign(done, { users: 0, asBefore: 0, failed: [] });
    left.clear();
    let isMoving = false;
    const before = done.rekeyed + done.forgotten;
    for (const { slug } of await store.channels()) {
      for (let after: string | null = null; ;) {
        const page = await store.usersPage(slug, { limit: USERS_AT_ONCE, after, order: "oldest first" });
        for (const { user } of page.items) {
          done.users += 1;
          const keys = (await contentKeys?.keys(slug, user.userId)) ?? {};
          for (const [keyId, was] of Object.entries(keys)) {
            if (await renew(slug, user.userId, keyId, was)) isMoving = true;
          }
        }
        after = page.next;
        if (after === null) break;
      }
    }
    return isMoving || done.rekeyed + done.forgotten > before;
  }

  // A walk that changes nothing shows that nothing is left.
  let walks = 0;
  while (walks < MOST_WALKS && (await walk())) walks += 1;
  if (walks === MOST_WALKS) return done;
  done.asBefore -= done.rekeyed;
  for (const id of Object.keys(await contentKeys.wrappers())) {
    if (left.has(id) || id === first) continue;
    await contentKeys.forgetWrapper(id);
    done.free.push(id);
  }
  return done;
}
