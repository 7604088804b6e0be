import type { Timers } from "../../clock.ts";
import type { Channel } from "../../domain/channels/channel.ts";
import { unreadMs } from "../../domain/channels/webhook.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { PlainLog } from "../../log.ts";
import { StoreUnavailable } from "../../store.ts";
import type { Share, Store } from "../../store.ts";
import { isInShare } from "../delete/in-share.ts";
import type { DeskOfThreads } from "./desk.ts";

const LOOK_MS = 20_000;
/** Outages up to this long are made up for. */
const BACK_MS = 3_600_000;
const AT_ONCE = 100;

/**
 * Tells webhooks of replies that no page has shown for so long (webhooks[].unreadMinutes). Each channel is looked through by one
 * instance, by its share; what was told is kept with the thread, so that two at once tell it once. A message costs nothing: the
 * channel's order says which threads were active last at that time.
 */
export interface UnreadSweep {
  start(): void;
  stop(): void;
  look(): Promise<void>;
}

export function createUnreadSweep({
  store,
  desk,
  channels,
  share,
  clock,
  timers,
  log,
}: {
  store: Pick<Store, "channelThreads" | "history">;
  desk: Pick<DeskOfThreads, "tellUnread">;
  channels: () => readonly Channel[];
  share: () => Share;
  clock: { now(): number };
  timers: Timers;
  log: Pick<PlainLog, "warn">;
}): UnreadSweep {
  /** By channel: the activity up to which all was looked at. */
  const seenTo = new Map<string, number>();
  let callOff = () => {};
  let isStopped = false;

  async function lookThrough({ slug, kind, webhooks }: Channel): Promise<void> {
    const ageMs = kind === "transport" ? null : unreadMs(webhooks);
    if (ageMs === null || !isInShare(slug, share())) return;
    const untilMs = clock.now() - ageMs;
    // Some of the order comes up to 3 s late.
    const sinceMs = Math.max(untilMs - BACK_MS, (seenTo.get(slug) ?? 0) - LOOK_MS);
    for (let after: string | null = null; !isStopped;) {
      const page = { limit: AT_ONCE, after, sinceMs, untilMs };
      const { items, next } = await store.channelThreads(slug, page);
      for (const { uid } of items) await tellOf(slug, uid);
      if (next === null) break;
      after = next;
    }
    seenTo.set(slug, untilMs);
  }

  async function tellOf(slug: string, uid: string): Promise<void> {
    const [last] = await store.history(uid, { limit: 1, before: null, budgetChars: 1 });
    if (last?.role !== "assistant") return;
    try {
      await desk.tellUnread({ uid, slug }, last);
    } catch (error) {
      // Deleted meanwhile.
      if (!(error instanceof Refusal && error.reason === "not-found")) throw error;
    }
  }

  async function look(): Promise<void> {
    for (const channel of channels()) {
      try {
        await lookThrough(channel);
      } catch (error) {
        // Soon again: the next look goes on.
        if (!(error instanceof StoreUnavailable)) log.warn({ channel: channel.slug, err: error }, CANNOT);
      }
    }
  }

  function later(): void {
    callOff = timers.after(LOOK_MS, () => void look().then(() => isStopped || later()));
  }

  return {
    start: later,
    stop() {
      isStopped = true;
      callOff();
    },
    look,
  };
}

const CANNOT = "cannot look for replies that no page has shown";
