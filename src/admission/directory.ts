import { systemClock } from "../clock.ts";
import type { Clock } from "../clock.ts";
import type { Channel } from "../domain/channel.ts";
import type { Operator } from "../domain/operator.ts";
import { Refusal } from "../domain/refusal.ts";
import type { PlainLog } from "../log.ts";
import type { Store, UnreadableChannel, UnreadableRecord } from "../store.ts";
import { indexOf } from "./channel-index.ts";
import { ownerOf } from "./keys.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { comesFrom } from "./origin.ts";
import type { Provenance } from "./origin.ts";
import { createUnreadableChannels } from "./unreadable-channels.ts";

/**
 * Channels, origins, publishable keys, blocked addresses and operators, kept in memory: requests are checked against them without
 * a store call.
 * Renewed by the store's notice, which comes with the next beat of this process at the latest, so a change made anywhere
 * is in force within a second (contract, Channels). During an outage of the store, what was read last stays in force.
 */
export interface Directory {
  /** Resolves after the first reading. Rejects if the store does not answer. */
  start(): Promise<void>;
  stop(): void;
  /** Reads now. Resolves when everything written before the call is in force in this process. */
  renew(): Promise<void>;
  /** Throws Refusal("unavailable") where its record cannot be read. */
  channel(slug: string): Channel | null;
  /** The web channel of a `pk_…` key. Throws as `channel` does. */
  byPublishableKey(key: string): Channel | null;
  /** Why a channel cannot be read; null where it can, or is not there. */
  faultOf(slug: string): UnreadableRecord | null;
  /** All that can be read, in the store's order. */
  channels(): readonly Channel[];
  /** For runs: as it was read last, though it cannot be read any more. */
  lastRead(slug: string): Channel | null;
  /** Does any web channel allow this origin? A disabled one counts too: pages may read its refusals. */
  isKnown(provenance: Provenance): boolean;
  /** The operator of an `op_…` key, or of a session that has not ended. */
  operatorOf(key: string): Operator | null;
  /** An address in its normal spelling. */
  isBlocked(address: string): boolean;
}

/** A key that opens the operator API: an operator's own, or of a session. */
interface OperatorKey {
  keyHash: string;
  endsAtMs: number;
  operator: Operator;
}

function keysOf(operator: Operator): OperatorKey[] {
  const sessions = operator.signIn?.sessions ?? [];
  return [{ keyHash: operator.keyHash, endsAtMs: Infinity }, ...sessions].map((key) => ({
    ...key,
    operator,
  }));
}

/** A change that the store did not tell of, since a beat got no answer, is found within this time. */
const POLL_EVERY_MS = 5_000;

export function createDirectory(options: {
  store: Pick<Store, "channels" | "blockedIps" | "operators" | "changeCount" | "onChange">;
  log: Pick<PlainLog, "warn">;
  clock?: Pick<Clock, "now">;
}): Directory {
  const { store, log, clock = systemClock } = options;
  const unreadables = createUnreadableChannels(log);
  let index = indexOf([], [], []);
  let keys: readonly OperatorKey[] = [];
  let hasWarned = false;
  let seenCount: number | null = null;
  let stopPolling = () => {};
  let stopped = false;

  const renew = oneAtATime(async () => {
    // The count first: a change between the two readings is then seen by the next poll.
    const count = await store.changeCount();
    const unreadable: UnreadableChannel[] = [];
    const [channels, blockedIps, listed] = await Promise.all([
      store.channels((channel) => void unreadable.push(channel)),
      store.blockedIps(),
      store.operators(warnOfUnreadable),
    ]);
    keys = listed.flatMap(keysOf);
    index = indexOf(channels, unreadables.noted(channels, unreadable), blockedIps);
    seenCount = count;
  });

  function warnOfUnreadable(error: UnreadableRecord): void {
    if (!hasWarned) log.warn({ err: error }, "cannot read an operator: its key opens nothing here");
    hasWarned = true;
  }

  async function poll(): Promise<void> {
    const count = await store.changeCount();
    if (!stopped && count !== seenCount) await renew();
  }

  function warn(error: unknown): void {
    log.warn({ err: error }, "cannot renew the channels: what was read last stays in force");
  }

  return {
    async start() {
      const unsubscribe = store.onChange(() => void renew().catch(warn));
      stopPolling = unsubscribe;
      await renew();
      const timer = repeatedly(() => poll().catch(warn), POLL_EVERY_MS);
      stopPolling = () => {
        unsubscribe();
        clearInterval(timer);
      };
    },
    stop() {
      stopped = true;
      stopPolling();
    },
    renew,
    channel(slug) {
      if (index.unreadable.has(slug)) throw unreadable();
      return index.bySlug.get(slug) ?? null;
    },
    byPublishableKey(key) {
      if (index.unreadableKeys.has(key)) throw unreadable();
      const older = index.byOlderKey.get(key);
      return index.byKey.get(key) ?? (older && clock.now() < older.untilMs ? older.channel : null);
    },
    faultOf: (slug) => index.unreadable.get(slug)?.error ?? null,
    channels: () => [...index.bySlug.values()],
    lastRead: (slug) => unreadables.lastRead(slug),
    isKnown: (provenance) =>
      provenance.type === "origin"
        ? index.origins.has(provenance.origin) && comesFrom(provenance, [provenance.origin])
        : index.hosts.has(provenance.host),
    operatorOf(key) {
      const owner = ownerOf(key, keys);
      return owner !== null && clock.now() < owner.endsAtMs ? owner.operator : null;
    },
    isBlocked: (address) => index.isBlocked(address),
  };
}

/** 503, and no 401 or 404: the caller keeps its token, and comes back when the channel is written anew, or to a newer instance. */
function unreadable(): Refusal {
  return new Refusal("unavailable", "The channel cannot be read");
}

/** Calls `task` every so often, but not while the last call is still running. */
function repeatedly(task: () => Promise<void>, everyMs: number): NodeJS.Timeout {
  let isBusy = false;
  return setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void task().finally(() => (isBusy = false));
  }, everyMs).unref();
}
