import type { Clock, Timers } from "../clock.ts";
import { isMessengerEndpoint } from "../domain/channels/messenger.ts";
import type { ToldEvent, WebhookField } from "../domain/channels/webhook.ts";
import { endpointOf } from "../domain/threads/tellings.ts";
import { messageOf } from "../errors.ts";
import type { PlainLog } from "../log.ts";
import type { Secret } from "../secret.ts";
import { NewerRecord, UnreadableRecord } from "../store.ts";
import type { Delivery, OutboxStore, QueuedEvent, SealedEvent } from "../store.ts";
import { sealedEvent } from "./body.ts";
import type { BodyDependencies } from "./body.ts";
import { dueAfter } from "./due-after.ts";
import { NO_SECRET } from "./sign.ts";
import type { Sender, Sent } from "./send.ts";

/** Shared by all lanes of a process. */
export interface LaneDependencies extends BodyDependencies {
  outbox: OutboxStore;
  sender: Sender;
  clock: Clock;
  timers: Timers;
  random: () => number;
  log: PlainLog;
  /** A channel's endpoint as configured now; null: the channel no longer has it. */
  webhook: (slug: string, endpoint: string) => WebhookField | null;
  /** As secretsOf() of sign.ts. */
  secretsOf: (slug: string, webhook: WebhookField) => readonly Secret[];
  /** Delivers the events of messengers' endpoints; absent: another process does. */
  messenger?: MessengerDelivery;
  onTried?: (tried: { slug: string; outcome: "delivered" | "failed" | "given-up" }) => void;
}

/** How a messenger's events are delivered: settles the event, or rejects, and then its thread rests. */
export interface MessengerDelivery {
  deliver(event: QueuedEvent): Promise<void>;
  /** How long the thread rests after this error. */
  restMs(event: QueuedEvent, error: unknown): number;
}

/** The deliveries to one endpoint, by this process while it has the lease. */
export interface Lane {
  /** Call when something may be due. */
  wake(): void;
  /** Resolves when no delivery is in progress. */
  stop(): Promise<void>;
}

/** The holder renews it; a dead process loses it within this time. */
const LEASE_MS = 6_000;
const RENEW_MS = 1_500;
/** Concurrent requests to one receiver: if it hangs, only this many are in memory. */
const AT_ONCE = 32;
/** A messenger's delivery lasts as long as the run whose reply it shows. */
const MESSAGES_AT_ONCE = 512;
/** Events per read beyond those: more than are sent at once, so that a thread with many events does not block all others. */
const READ_AT_ONCE = 256;
/** Another process may have queued events without notifying this one. */
const LOOK_MS = 200;
/** After so long without events the lease is released, and polling stops. */
const IDLE_MS = 2_000;
/** How long a thread is skipped that cannot be read here: a process that can may get the lease meanwhile. */
const REST_MS = 3_000;
const HOUR_MS = 3_600_000;

/**
 * Sends the events queued for one endpoint: one at a time per thread, in order; of different threads as many as the
 * receiver takes. A failed event is put back, and later ones are sent first.
 */
export function createLane(
  dependencies: LaneDependencies,
  { slug, endpoint }: { slug: string; endpoint: string },
): Lane {
  const { outbox, sender, clock, timers, random, log, onTried = () => {} } = dependencies;
  const { messenger = null } = dependencies;
  let most = AT_ONCE;
  const busy = new Map<string, Promise<void>>();
  /** Read and not begun, in order: so a long queue is not read again for each event that is sent. */
  let read: QueuedEvent[] = [];
  /** In progress. */
  const begun = new Set<string>();
  /** Threads that could not be read, and until when none of their events begins: later events must not overtake. */
  const resting = new Map<string, number>();
  /** The receiver answered 410. */
  let isOff = false;
  let running: Promise<void> | null = null;
  let isWanted = false;
  let stopped = false;
  let ring = () => {};
  let callOff = () => {};

  const nameOf = ({ uid, nth }: QueuedEvent) => `${uid ?? "-"} ${nth}`;
  const threadOf = ({ uid, nth }: QueuedEvent) => uid ?? `- ${nth}`;

  /** Resolves at the next ring, or after that many ms. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const off = timers.after(ms, resolve);
      ring = () => {
        off();
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    // Events of an endpoint that the channel no longer has stay due: reading them would never end.
    const webhook = dependencies.webhook(slug, endpoint);
    if (!webhook || (isMessengerEndpoint(webhook) && !messenger)) return;
    most = isMessengerEndpoint(webhook) ? MESSAGES_AT_ONCE : AT_ONCE;
    const next = await outbox.nextDueMs(slug, endpoint);
    if (next === null) return;
    if (next > clock.now()) return later(next);
    if (!(await outbox.lease(slug, endpoint, LEASE_MS))) return;
    read = [];
    isOff = false;
    let leasedAt = clock.elapsed();
    let lastBusyAt = leasedAt;
    try {
      while (!stopped) {
        isWanted = false;
        if (clock.elapsed() - leasedAt > RENEW_MS) {
          leasedAt = clock.elapsed();
          if (!(await outbox.lease(slug, endpoint, LEASE_MS))) return;
        }
        const count = await beginDue();
        if (count === null) break;
        if (count > 0 || busy.size > 0) lastBusyAt = clock.elapsed();
        else if (anyRests() || clock.elapsed() - lastBusyAt > IDLE_MS) break;
        if (!isWanted) await pause(LOOK_MS);
      }
      await Promise.all(busy.values());
      const due = await outbox.nextDueMs(slug, endpoint);
      if (due !== null) later(anyRests() ? clock.now() + shortestRest() : due);
    } finally {
      await outbox.release(slug, endpoint);
    }
  }

  /** How many were begun; null: sending is not possible. */
  async function beginDue(): Promise<number | null> {
    if (busy.size >= most) return 0;
    const webhook = dependencies.webhook(slug, endpoint);
    if (!webhook || isOff) return null;
    wakeRested();
    const known = beginRead(webhook);
    if (busy.size >= most) return known;
    const due = await outbox.due(slug, endpoint, { nowMs: clock.now(), limit: most + READ_AT_ONCE });
    read = due.filter((event) => !begun.has(nameOf(event)));
    return known + beginRead(webhook);
  }

  /** How many of the events already read could be begun. */
  function beginRead(webhook: WebhookField): number {
    const left: QueuedEvent[] = [];
    for (const event of read) {
      const thread = threadOf(event);
      if (busy.size >= most || stopped || busy.has(thread) || resting.has(thread)) left.push(event);
      else begin(event, webhook);
    }
    const count = read.length - left.length;
    read = left;
    return count;
  }

  function begin(event: QueuedEvent, webhook: WebhookField): void {
    const [name, thread] = [nameOf(event), threadOf(event)];
    begun.add(name);
    const delivering = deliver(event, webhook)
      .catch((error: unknown) => {
        if (messenger && isMessengerEndpoint(webhook)) {
          resting.set(thread, clock.elapsed() + messenger.restMs(event, error));
          return;
        }
        log.warn({ channel: slug, endpoint, err: error }, "cannot tell a webhook");
        resting.set(thread, clock.elapsed() + REST_MS);
      })
      .finally(() => {
        begun.delete(name);
        busy.delete(thread);
        isWanted = true;
        ring();
      });
    busy.set(thread, delivering);
  }

  function anyRests(): boolean {
    wakeRested();
    return resting.size > 0;
  }

  function shortestRest(): number {
    return Math.min(REST_MS, ...[...resting.values()].map((until) => until - clock.elapsed()));
  }

  function wakeRested(): void {
    for (const [thread, until] of resting) if (until <= clock.elapsed()) resting.delete(thread);
  }

  async function deliver(event: QueuedEvent, webhook: WebhookField): Promise<void> {
    if (messenger && isMessengerEndpoint(webhook)) return messenger.deliver(event);
    const stored = await outbox.event(event);
    if (!stored) return outbox.settled(event, null);
    const sealed = stored.type === "sealed" ? stored : await sealOrFail(event, JSON.parse(stored.text));
    if (!sealed) return;
    const happened = happenedOf(sealed);
    const secrets = dependencies.secretsOf(slug, webhook);
    const sent: Sent =
      secrets.length > 0
        ? await sender.send({ url: webhook.url, secrets, ...sealed })
        : { status: null, fault: NO_SECRET, elapsedMs: 0 };
    // Aborted by the stop: this does not count as a try, and the next process begins with it.
    if (stopped && sent.status === null) return;
    if (sent.fault === null) {
      onTried({ slug, outcome: "delivered" });
      return outbox.settled(event, deliveryOf(event, happened, sent));
    }
    await failed(event, happened, sent);
    if (sent.status !== 410) return;
    isOff = true;
    await outbox.switchEndpoint(slug, endpoint, clock.now());
    log.warn({ channel: slug, endpoint }, "a webhook's receiver is gone (410): it is off until it is tested");
  }

  async function failed(event: QueuedEvent, happened: Happened, tried: Sent): Promise<void> {
    const { id, atMs: happenedAtMs } = happened;
    const delivery = deliveryOf(event, happened, tried);
    const { attempt: attempts } = delivery;
    const dueMs = dueAfter({ attempts, happenedAtMs, nowMs: clock.now(), random });
    onTried({ slug, outcome: dueMs === null ? "given-up" : "failed" });
    await outbox.failed(event, { attempts, dueMs }, delivery);
    if (dueMs !== null) return;
    log.warn({ channel: slug, endpoint, webhookId: id, fault: tried.fault }, "gave up telling a webhook");
  }

  function deliveryOf({ attempts }: QueuedEvent, { id, type }: Happened, tried: Sent): Delivery {
    return { id, event: type, atMs: clock.now(), attempt: attempts + 1, ...tried };
  }

  /** Stores the body, so that every try sends the same, from any process. Null: the event was settled, or failed. */
  async function sealOrFail(event: QueuedEvent, told: ToldEvent): Promise<SealedEvent | null> {
    try {
      const made = await sealedEvent(dependencies, event, told);
      const sealed = made && (await outbox.seal(event, made));
      // Nothing to send any more.
      if (!sealed) await outbox.settled(event, null);
      return sealed;
    } catch (error) {
      if (!isDamaged(error)) throw error;
      // It may be repaired, as a receiver may come back; later events do not wait for it.
      await failed(event, told, { status: null, fault: "what it tells of cannot be read", elapsedMs: 0 });
      return null;
    }
  }

  function later(dueMs: number): void {
    callOff();
    const ms = Math.min(Math.max(dueMs - clock.now(), 0), HOUR_MS);
    if (!stopped) callOff = timers.after(ms, wake);
  }

  function wake(): void {
    if (stopped) return;
    isWanted = true;
    ring();
    running ??= run()
      .catch((error: unknown) => {
        log.warn({ channel: slug, endpoint, reason: messageOf(error) }, "cannot read what a webhook is told");
      })
      .finally(() => {
        running = null;
      });
  }

  return {
    wake,
    async stop() {
      stopped = true;
      callOff();
      ring();
      await running;
    },
  };
}

/** The facts of an event for the lists of deliveries and for the schedule. */
interface Happened {
  id: string;
  type: string;
  atMs: number;
}

function happenedOf({ id, body }: SealedEvent): Happened {
  const { type, timestamp }: { type: string; timestamp: string } = JSON.parse(body);
  return { id, type, atMs: Date.parse(timestamp) };
}

/**
 * A record of a newer version, or one whose key is missing here, is not damaged: another instance, or a later one,
 * reads it.
 */
function isDamaged(error: unknown): boolean {
  return error instanceof UnreadableRecord && !(error instanceof NewerRecord);
}

/** A channel's endpoint by its name in the store. */
export function findEndpoint(
  webhooks: readonly WebhookField[] | undefined,
  endpoint: string,
): WebhookField | null {
  return webhooks?.find((webhook) => endpointOf(webhook) === endpoint) ?? null;
}
