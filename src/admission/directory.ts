import { systemClock } from "../clock.ts";
import type { Clock } from "../clock.ts";
import type { Channel } from "../domain/channels/channel.ts";
import type { Operator } from "../domain/people/operator.ts";
import { Refusal } from "../domain/refusal.ts";
import type { PlainLog } from "../log.ts";
import { AwayRecord } from "../store.ts";
import type { Store, UnreadableChannel, UnreadableRecord } from "../store.ts";
import { indexOf } from "./channel-index.ts";
import { ownerOf } from "./keys.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { comesFrom } from "./origin.ts";
import type { Provenance } from "./origin.ts";
import { createUnreadableChannels } from "./unreadable-channels.ts";

/**
 * A cache of channels, origins, publishable keys, blocked addresses and operators, so that requests are checked without a
 * store call.
 * It is read again after the store's notice, at the latest with this process's next beat: a change by any instance applies
 * within a second (contract, Channels). During an outage of the store, the last reading stays valid.
 */
export interface Directory {
  /** Resolves after the first reading. Rejects if the store does not answer; channels whose part of it is away come later. */
  start(): Promise<void>;
  stop(): void;
  /** Reads now. Resolves when everything that was written before the call applies in this process. */
  renew(): Promise<void>;
  /** Throws Refusal("unavailable") if its record cannot be read. */
  channel(slug: string): Channel | null;
  /** The web channel of a `pk_…` key. Throws as `channel` does. */
  byPublishableKey(key: string): Channel | null;
  /** Why a channel cannot be read; null if it can be, or does not exist. */
  faultOf(slug: string): UnreadableRecord | null;
  /** All readable channels, in the store's order. */
  channels(): readonly Channel[];
  /** For runs: the channel as it was last read, even if it has become unreadable. */
  lastRead(slug: string): Channel | null;
  /** Does any web channel allow this origin? Disabled channels count too, so that pages can read the refusals. */
  isKnown(provenance: Provenance): boolean;
  /** The operator of an `op_…` key, or of a session that has not expired. */
  operatorOf(key: string): Operator | null;
  operatorNamed(name: string): Operator | null;
  /** `address`: in its canonical spelling. */
  isBlocked(address: string): boolean;
}

/** A key of the operator API: an operator's own, or a session's. */
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

/** A change whose notice was lost, because a beat got no answer, is found within this time. */
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
  let operators: ReadonlyMap<string, Operator> = new Map();
  let stopped = false;

  const renew = oneAtATime(async () => {
    // The count is read first, so that the next poll sees a change between the two readings.
    const count = await store.changeCount();
    const unreadable: UnreadableChannel[] = [];
    const [channels, blockedIps, listed] = await Promise.all([
      store.channels(
        (channel) => void unreadable.push(channel),
        (slug) => void unreadable.push(awayChannel(slug)),
      ),
      store.blockedIps(),
      store.operators(warnOfUnreadable),
    ]);
    operators = new Map(listed.map((one) => [one.name, one]));
    keys = listed.flatMap(keysOf);
    const noted = unreadables.noted({ readable: channels, unreadable });
    index = indexOf(noted.readable, noted.unreadable, blockedIps);
    // What is away is looked for with each poll.
    seenCount = unreadable.some(({ error }) => error instanceof AwayRecord) ? null : count;
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
    operatorNamed: (name) => operators.get(name) ?? null,
    isBlocked: (address) => index.isBlocked(address),
  };
}

function awayChannel(slug: string): UnreadableChannel {
  return { slug, error: new AwayRecord("channel", slug), publishableKey: null, allowedOrigins: [] };
}

/** 503 instead of 401 or 404: the caller keeps its token, and retries until the channel is repaired, or on a newer instance. */
function unreadable(): Refusal {
  return new Refusal("unavailable", "The channel cannot be read");
}

/** Calls `task` at this interval, but not while the last call is still running. */
function repeatedly(task: () => Promise<void>, everyMs: number): NodeJS.Timeout {
  let isBusy = false;
  return setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void task().finally(() => (isBusy = false));
  }, everyMs).unref();
}
