import { pause } from "../clock.ts";
import type { Channel } from "../domain/channels/channel.ts";
import { receiversOf } from "../domain/channels/messenger.ts";
import { endpointOf } from "../domain/threads/tellings.ts";
import { EVERYTHING } from "../store.ts";
import type { Share, ToldRef } from "../store.ts";
import { createLane, findEndpoint } from "./lane.ts";
import type { Lane, LaneDependencies } from "./lane.ts";

/**
 * Delivers events to the receivers of channels (the contract, Telling others).
 *
 * An event is stored by the commit that makes it happen. The process that committed queues it at once; events of a
 * process that died are queued and delivered by the next sweep. A process delivers to an endpoint while it has the
 * endpoint's lease.
 */
export interface Webhooks {
  start(): void;
  /** Lets deliveries in progress end. */
  stop(): Promise<void>;
  /** Queues stored events, in the background. */
  told(refs: readonly ToldRef[]): void;
  /** Something of this channel may be due. */
  wake(slug: string): void;
}

/** How often to sweep for events that nobody queued. */
const LOOK_MS = 3_000;
/** By then the process that committed has queued it, or is dead. */
const LEFT_MS = 2_000;
const LEFT_AT_ONCE = 200;
/** Events of an endpoint that a channel no longer has are dropped, this many at a time. */
const DROPPED_AT_ONCE = 500;
/** How long receivers may take to answer requests in progress at the stop. */
const STOP_MS = 1_000;
/** Limit of waiting events for one endpoint: beyond it, those that failed most often are dropped. */
const MOST_WAITING = 100_000;

export function createWebhooks(
  dependencies: LaneDependencies & {
    channels: () => readonly Channel[];
    /** This process's share of all threads. */
    share?: () => Share;
    /** Limit of waiting events for one endpoint. */
    mostWaiting?: number;
  },
): Webhooks {
  const { outbox, clock, timers, random, log, channels, share = () => EVERYTHING } = dependencies;
  const { mostWaiting = MOST_WAITING } = dependencies;
  const lanes = new Map<string, Lane>();
  let stopped = false;
  let callOff = () => {};
  let looking: Promise<void> | null = null;
  let queuing: Promise<void> = Promise.resolve();
  let toQueue: ToldRef[] = [];

  function laneOf(slug: string, endpoint: string): Lane {
    const name = `${slug} ${endpoint}`;
    const lane = lanes.get(name) ?? createLane(dependencies, { slug, endpoint });
    lanes.set(name, lane);
    return lane;
  }

  /** Queues all that have arrived meanwhile at once. */
  async function queueAll(): Promise<void> {
    const refs = toQueue;
    toQueue = [];
    if (refs.length === 0) return;
    await outbox.queue(refs);
    if (stopped) return;
    const endpoints = new Map(refs.map((ref) => [`${ref.slug} ${ref.endpoint}`, ref]));
    for (const { slug, endpoint } of endpoints.values()) laneOf(slug, endpoint).wake();
  }

  function told(refs: readonly ToldRef[]): void {
    if (refs.length === 0) return;
    const isFirst = toQueue.length === 0;
    toQueue.push(...refs);
    if (!isFirst) return;
    queuing = queuing.then(queueAll).catch((error: unknown) => {
      // It is stored: the next sweep queues it.
      log.warn({ err: error }, "cannot queue what webhooks are told: it is tried again");
    });
  }

  async function look(): Promise<void> {
    const telling = channels()
      .map((channel) => ({ slug: channel.slug, webhooks: receiversOf(channel) }))
      .filter(({ webhooks }) => webhooks.length > 0);
    if (telling.length === 0) return;
    const slugs = telling.map(({ slug }) => slug);
    const left = await outbox.unqueued({
      share: share(),
      slugs,
      beforeMs: clock.now() - LEFT_MS,
      limit: LEFT_AT_ONCE,
    });
    told(left);
    for (const { slug, webhooks } of telling) {
      if (stopped) return;
      for (const webhook of webhooks) laneOf(slug, endpointOf(webhook)).wake();
      for (const endpoint of await outbox.endpoints(slug)) {
        if (!findEndpoint(webhooks, endpoint)) await dropEndpoint(slug, endpoint);
        else await dropExcess(slug, endpoint);
      }
    }
  }

  async function dropEndpoint(slug: string, endpoint: string): Promise<void> {
    const waiting = await outbox.longestWaiting(slug, endpoint, DROPPED_AT_ONCE);
    await Promise.all(waiting.map((ref) => outbox.settled(ref, null)));
    if (waiting.length < DROPPED_AT_ONCE) await outbox.forgetEndpoint(slug, endpoint);
  }

  /** Drops all of the excess in one sweep: more events may arrive between two sweeps than one step drops. */
  async function dropExcess(slug: string, endpoint: string): Promise<void> {
    for (let dropped = 0; ;) {
      const { waiting } = await outbox.endpoint(slug, endpoint);
      const excess = Math.min(waiting - mostWaiting, DROPPED_AT_ONCE);
      const oldest = excess > 0 && !stopped ? await outbox.longestWaiting(slug, endpoint, excess) : [];
      await Promise.all(oldest.map((ref) => outbox.settled(ref, null)));
      dropped += oldest.length;
      if (oldest.length > 0) continue;
      if (dropped === 0) return;
      return log.warn(
        { channel: slug, endpoint, dropped },
        "too much waits for a webhook: the oldest is dropped",
      );
    }
  }

  function lookAndGoOn(): void {
    looking = look()
      .catch((error: unknown) => log.warn({ err: error }, "cannot look for what webhooks are told"))
      .finally(() => {
        looking = null;
        // Jitter: instances that started together must not sweep together.
        if (!stopped) callOff = timers.after(LOOK_MS * (0.8 + 0.4 * random()), lookAndGoOn);
      });
  }

  return {
    start: lookAndGoOn,
    told,
    wake(slug) {
      const channel = channels().find((one) => one.slug === slug);
      for (const webhook of channel ? receiversOf(channel) : []) laneOf(slug, endpointOf(webhook)).wake();
    },
    async stop() {
      stopped = true;
      callOff();
      await looking;
      await queuing;
      const stopping = Promise.all([...lanes.values()].map((lane) => lane.stop()));
      await Promise.race([stopping, pause(timers, STOP_MS)]);
      await dependencies.sender.close();
      await stopping;
    },
  };
}
