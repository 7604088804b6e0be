import type { Clock, Timers } from "../clock.ts";
import type { Channel } from "../domain/channels/channel.ts";
import type { PlainLog } from "../log.ts";
import { StoreUnavailable } from "../store.ts";
import type { PlacedUser, UserStore } from "../store/users.ts";

/**
 * Removes visitors who got a token and never began a conversation, once a token unused since then has long expired.
 * Visitors who were identified, blocked or whitelisted, or who have a thread, stay.
 *
 * Every instance walks over the users of one web channel after another, oldest first, a page at a time, on its own
 * schedule. Two instances may reach the same user: the store removes it once.
 */
export interface SilentVisitors {
  start(): void;
  stop(): void;
  /** One page of the walk; resolves to the number of visitors removed. */
  look(): Promise<number>;
}

/** The pause between two looks; a random part of as much again is added. */
const LOOK_MS = 60_000;
/** Each minute ten times as many as one address may create in an hour. */
const USERS_AT_ONCE = 200;
/** Use extends a token's life; but after twice its lifetime a visitor without a thread loses nothing except the token. */
const LIFETIMES = 2;

interface Walk {
  slug: string | null;
  after: string | null;
}

export function createSilentVisitors(options: {
  store: Pick<UserStore, "usersPage" | "dropSilentVisitor">;
  channels: () => readonly Channel[];
  clock: Pick<Clock, "now">;
  timers: Timers;
  log: Pick<PlainLog, "warn">;
  /** WIDGET_VISITOR_TTL_SECONDS */
  ttlMs: number;
  random?: () => number;
}): SilentVisitors {
  const { store, channels, clock, timers, log, ttlMs, random = Math.random } = options;
  const walk: Walk = { slug: null, after: null };
  let callOff = () => {};
  let stopped = false;

  function nextSlug(): string | null {
    const slugs = channels().flatMap(({ slug, kind }) => (kind === "web" ? [slug] : []));
    return slugs[slugs.indexOf(walk.slug ?? "") + 1] ?? slugs[0] ?? null;
  }

  async function look(): Promise<number> {
    if (walk.after === null) walk.slug = nextSlug();
    const { slug } = walk;
    if (slug === null) return 0;
    const page = { limit: USERS_AT_ONCE, after: walk.after, order: "oldest first" as const };
    const { items, next } = await store.usersPage(slug, page);
    const madeBefore = clock.now() - LIFETIMES * ttlMs;
    const old = items.filter(({ createdAtMs }) => createdAtMs < madeBefore);
    // Sorted by age: after the first younger one, all are younger.
    walk.after = old.length === items.length ? next : null;
    let dropped = 0;
    for (const { user } of old.filter(isNobody)) {
      if (stopped) break;
      if (await store.dropSilentVisitor(slug, user.userId)) dropped += 1;
    }
    return dropped;
  }

  function later(): void {
    callOff = timers.after(LOOK_MS * (1 + random()), () => {
      void look()
        .catch((error: unknown) => {
          // The next look finds the store again.
          if (!(error instanceof StoreUnavailable))
            log.warn({ err: error }, "cannot look for silent visitors");
        })
        .finally(() => stopped || later());
    });
  }

  return {
    start: later,
    stop() {
      stopped = true;
      callOff();
    },
    look,
  };
}

function isNobody({ user }: PlacedUser): boolean {
  return user.externalId === null && !user.blocked && !user.whitelisted;
}
