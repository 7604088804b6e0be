import type { Clock, Timers } from "../clock.ts";
import type { ToldEvent, WebhookField } from "../domain/webhook.ts";
import { endpointOf } from "../domain/tellings.ts";
import { messageOf } from "../errors.ts";
import type { PlainLog } from "../log.ts";
import type { Secret } from "../secret.ts";
import { NewerRecord, UnreadableRecord } from "../store.ts";
import type { Delivery, OutboxStore, QueuedEvent, SealedEvent } from "../store.ts";
import { sealedEvent } from "./body.ts";
import type { BodyDependencies } from "./body.ts";
import { dueAfter } from "./schedule.ts";
import type { Sender, Sent } from "./send.ts";

/** What all lanes of a process share. */
export interface LaneDependencies extends BodyDependencies {
  outbox: OutboxStore;
  sender: Sender;
  clock: Clock;
  timers: Timers;
  random: () => number;
  log: PlainLog;
  /** A channel's endpoint as it is now; null: the channel has it no more. */
  webhook: (slug: string, endpoint: string) => WebhookField | null;
  /** Null: the variable that holds it is unset. */
  secretOf: (webhook: WebhookField) => Secret | null;
  onTried?: (tried: { slug: string; outcome: "delivered" | "failed" | "given-up" }) => void;
}

/** The deliveries to one endpoint, by this process as long as it has the lease. */
export interface Lane {
  /** Something may be due. */
  wake(): void;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

/** Who has it renews it; whoever dies loses it within this time. */
const LEASE_MS = 6_000;
const RENEW_MS = 1_500;
/** Requests to one receiver at once: so many of a receiver that hangs are in memory, and no more. */
const AT_ONCE = 32;
/** Read at once: more than are sent, so that a thread with much to tell does not stand before all others. */
const READ_AT_ONCE = 256;
/** Another process may have queued something that nobody here was told of. */
const LOOK_MS = 200;
/** Nothing came for so long: the lease goes, and so do the looks. */
const IDLE_MS = 2_000;
/** A thread that cannot be told of now is left alone for so long: whoever can read it may have the lease meanwhile. */
const REST_MS = 3_000;
const HOUR_MS = 3_600_000;

/**
 * Sends what is queued for one endpoint. Of a thread one event at a time, in their order; of different threads as many as the
 * receiver takes. What fails is put behind, and what comes after it goes on.
 */
export function createLane(
  dependencies: LaneDependencies,
  { slug, endpoint }: { slug: string; endpoint: string },
): Lane {
  const { outbox, sender, clock, timers, random, log, onTried = () => {} } = dependencies;
  const busy = new Map<string, Promise<void>>();
  /** Read and not begun, in order: while much waits, it is not read anew for each event that is sent. */
  let read: QueuedEvent[] = [];
  /** Under way. */
  const begun = new Set<string>();
  /** Threads that could not be told of, and until when nothing of them is begun: what comes later does not pass them. */
  const resting = new Map<string, number>();
  /** Its receiver said 410. */
  let isOff = false;
  let running: Promise<void> | null = null;
  let isWanted = false;
  let stopped = false;
  let ring = () => {};
  let callOff = () => {};

  const nameOf = ({ uid, nth }: QueuedEvent) => `${uid ?? "-"} ${nth}`;
  const threadOf = ({ uid, nth }: QueuedEvent) => uid ?? `- ${nth}`;

  /** Resolves at the next ring, or after so long. */
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
    // What waits for one that the channel has no more stays due: it would be gone through without an end.
    if (!dependencies.webhook(slug, endpoint)) return;
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
      if (due !== null) later(anyRests() ? clock.now() + REST_MS : due);
    } finally {
      await outbox.release(slug, endpoint);
    }
  }

  /** How many were begun; null: nothing may be sent. */
  async function beginDue(): Promise<number | null> {
    if (busy.size >= AT_ONCE) return 0;
    const webhook = dependencies.webhook(slug, endpoint);
    if (!webhook || isOff) return null;
    wakeRested();
    const known = beginRead(webhook);
    if (busy.size >= AT_ONCE) return known;
    const due = await outbox.due(slug, endpoint, { nowMs: clock.now(), limit: READ_AT_ONCE });
    read = due.filter((event) => !begun.has(nameOf(event)));
    return known + beginRead(webhook);
  }

  /** How many of those that were read could be begun. */
  function beginRead(webhook: WebhookField): number {
    const left: QueuedEvent[] = [];
    for (const event of read) {
      const thread = threadOf(event);
      if (busy.size >= AT_ONCE || stopped || busy.has(thread) || resting.has(thread)) left.push(event);
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

  function wakeRested(): void {
    for (const [thread, until] of resting) if (until <= clock.elapsed()) resting.delete(thread);
  }

  async function deliver(event: QueuedEvent, webhook: WebhookField): Promise<void> {
    const stored = await outbox.event(event);
    if (!stored) return outbox.settled(event, null);
    const sealed = stored.type === "sealed" ? stored : await sealOrFail(event, JSON.parse(stored.text));
    if (!sealed) return;
    const happened = happenedOf(sealed);
    const secret = dependencies.secretOf(webhook);
    const sent: Sent = secret
      ? await sender.send({ url: webhook.url, secret, ...sealed })
      : { status: null, fault: "its secret's variable is unset", elapsedMs: 0 };
    // Called off by the stop: it was not tried, and whoever delivers next begins with it.
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

  /** What is sent is the same at each try, whoever makes it. Null: it was settled, or failed. */
  async function sealOrFail(event: QueuedEvent, told: ToldEvent): Promise<SealedEvent | null> {
    try {
      const made = await sealedEvent(dependencies, event, told);
      const sealed = made && (await outbox.seal(event, made));
      // There is nothing to tell any more.
      if (!sealed) await outbox.settled(event, null);
      return sealed;
    } catch (error) {
      if (!isDamaged(error)) throw error;
      // It may be mended, as a receiver may come back: what happened later does not wait for it.
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

/** What lists of deliveries and the schedule know of an event. */
interface Happened {
  id: string;
  type: string;
  atMs: number;
}

function happenedOf({ id, body }: SealedEvent): Happened {
  const { type, timestamp }: { type: string; timestamp: string } = JSON.parse(body);
  return { id, type, atMs: Date.parse(timestamp) };
}

/** What a newer version wrote, or a key that is missed here opens, is for another instance, or for later. */
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
