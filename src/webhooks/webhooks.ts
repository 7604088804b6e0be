import { pause } from "../clock.ts";
import type { Channel } from "../domain/channel.ts";
import { endpointOf } from "../domain/tellings.ts";
import { EVERYTHING } from "../store.ts";
import type { Share, ToldRef } from "../store.ts";
import { createLane, findEndpoint } from "./lane.ts";
import type { Lane, LaneDependencies } from "./lane.ts";

/**
 * Tells the receivers of channels what happened (the contract, Telling others).
 *
 * What is told was written down by the commit that made it happen. Whoever committed queues it at once; what a process
 * left that died is queued, and delivered, by whoever looks next. A process delivers to an endpoint while it has its lease.
 */
export interface Webhooks {
  start(): void;
  /** Lets what is under way end. */
  stop(): Promise<void>;
  /** These were written down. Nobody waits for them here. */
  told(refs: readonly ToldRef[]): void;
  /** Something of this channel may be due. */
  wake(slug: string): void;
}

/** How often is looked for what nobody here was told of. */
const LOOK_MS = 3_000;
/** Whoever committed has queued it by then, or is gone. */
const LEFT_MS = 2_000;
const LEFT_AT_ONCE = 200;
/** An endpoint that a channel has no more loses what waits for it, so many at once. */
const DROPPED_AT_ONCE = 500;
/** Receivers have so long to answer what is under way at the stop. */
const STOP_MS = 1_000;
/** More than so many waiting events of one endpoint are not kept: the oldest go. */
const MOST_WAITING = 100_000;

export function createWebhooks(
  dependencies: LaneDependencies & {
    channels: () => readonly Channel[];
    /** Of all threads, this process's share. */
    share?: () => Share;
    /** Of one endpoint. */
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

  /** All that came meanwhile in one go. */
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
      // It is written down: whoever looks next queues it.
      log.warn({ err: error }, "cannot queue what webhooks are told: it is tried again");
    });
  }

  async function look(): Promise<void> {
    const telling = channels().filter(({ webhooks = [] }) => webhooks.length > 0);
    if (telling.length === 0) return;
    const slugs = telling.map(({ slug }) => slug);
    const left = await outbox.unqueued({
      share: share(),
      slugs,
      beforeMs: clock.now() - LEFT_MS,
      limit: LEFT_AT_ONCE,
    });
    told(left);
    for (const { slug, webhooks = [] } of telling) {
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

  /** All of it in one look: more may happen between two looks than is dropped at once. */
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
        // Jitter: instances that started together do not look together.
        if (!stopped) callOff = timers.after(LOOK_MS * (0.8 + 0.4 * random()), lookAndGoOn);
      });
  }

  return {
    start: lookAndGoOn,
    told,
    wake(slug) {
      for (const webhook of channels().find((channel) => channel.slug === slug)?.webhooks ?? []) {
        laneOf(slug, endpointOf(webhook)).wake();
      }
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
