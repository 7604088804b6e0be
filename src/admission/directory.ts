import type { Channel } from "../domain/channel.ts";
import type { PlainLog } from "../log.ts";
import type { Store } from "../store.ts";
import { blockedBy } from "./ip.ts";
import { comesFrom, hostOf } from "./origin.ts";
import type { Provenance } from "./origin.ts";

/**
 * Channels, origins, publishable keys and blocked addresses in memory: what is asked before a store call is worth it.
 * Renewed by the store's notice and by looking twice a second, so a change made anywhere is in force within a second
 * (contract, Channels). While the store cannot be reached, what was read last stays in force.
 */
export interface Directory {
  /** Resolves after the first reading; rejects where the store does not answer. */
  start(): Promise<void>;
  stop(): void;
  /** Reads now: whoever just wrote a channel or a block awaits this, and it is in force here. */
  renew(): Promise<void>;
  channel(slug: string): Channel | null;
  /** The web channel of a `pk_…` key. */
  byPublishableKey(key: string): Channel | null;
  /** Does any web channel allow this origin? A disabled one counts too: its refusals are readable by the page. */
  isKnown(provenance: Provenance): boolean;
  /** An address in its normal spelling. */
  isBlocked(address: string): boolean;
}

const LOOK_EVERY_MS = 400;

export function createDirectory(options: {
  store: Pick<Store, "channels" | "blockedIps" | "changeCount" | "onChange">;
  log: Pick<PlainLog, "warn">;
}): Directory {
  const { store, log } = options;
  let known = listed([], []);
  let seenCount: number | null = null;
  let renewing: Promise<void> | null = null;
  let again = false;
  let looking: NodeJS.Timeout | null = null;
  let unsubscribe = () => {};

  async function read(): Promise<void> {
    // The count first: a change between the two readings is then seen by the next look.
    const count = await store.changeCount();
    const [channels, blockedIps] = await Promise.all([store.channels(), store.blockedIps()]);
    known = listed(channels, blockedIps);
    seenCount = count;
  }

  /** One reading at a time; a call during one is answered by another reading after it. */
  function renew(): Promise<void> {
    if (renewing) {
      again = true;
      return renewing;
    }
    renewing = (async () => {
      try {
        do {
          again = false;
          await read();
        } while (again);
      } finally {
        renewing = null;
      }
    })();
    return renewing;
  }

  async function look(): Promise<void> {
    if ((await store.changeCount()) !== seenCount) await renew();
  }

  function warn(error: unknown): void {
    log.warn({ err: error }, "cannot renew the channels: what was read last stays in force");
  }

  return {
    async start() {
      unsubscribe = store.onChange(() => void renew().catch(warn));
      await renew();
      let resting = true;
      looking = setInterval(() => {
        if (!resting) return;
        resting = false;
        void look()
          .catch(warn)
          .finally(() => (resting = true));
      }, LOOK_EVERY_MS).unref();
    },
    stop() {
      unsubscribe();
      if (looking) clearInterval(looking);
    },
    renew,
    channel: (slug) => known.bySlug.get(slug) ?? null,
    byPublishableKey: (key) => known.byKey.get(key) ?? null,
    isKnown: (provenance) =>
      provenance.type === "origin"
        ? known.origins.has(provenance.origin) && comesFrom(provenance, [provenance.origin])
        : known.hosts.has(provenance.host),
    isBlocked: (address) => known.isBlocked(address),
  };
}

function listed(channels: readonly Channel[], blockedIps: readonly string[]) {
  const web = channels.filter((channel) => channel.kind === "web");
  const origins = new Set(web.flatMap((channel) => channel.allowedOrigins));
  return {
    bySlug: new Map(channels.map((channel) => [channel.slug, channel])),
    byKey: new Map(web.map((channel) => [channel.publishableKey, channel] as [string | null, Channel])),
    origins,
    hosts: new Set([...origins].map(hostOf)),
    isBlocked: blockedBy(blockedIps),
  };
}
