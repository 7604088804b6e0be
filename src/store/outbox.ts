import type { Share } from "./instances.ts";

/**
 * The events for a channel's webhooks. A commit stores an event for each endpoint that gets it, beside its thread
 * (ThreadCommit.tells) or beside the channel's users (`tells` of Promotion and Merge). Then the process that committed it,
 * or any other if that one died, puts a reference into the endpoint's queue. The queue has no texts: deleting a thread
 * deletes its events.
 */
export interface OutboxStore {
  /** Events stored before `beforeMs` and not queued yet, of a share of all threads and of these channels; at most `limit` of each. */
  unqueued(look: {
    share: Share;
    slugs: readonly string[];
    beforeMs: number;
    limit: number;
  }): Promise<ToldRef[]>;
  /** Appends these events to their endpoints' queues, in this order. Those already queued keep their position. */
  queue(refs: readonly ToldRef[]): Promise<void>;
  /** True: from now on, for `leaseMs`, only this process delivers to the endpoint. False: another one does. */
  lease(slug: string, endpoint: string, leaseMs: number): Promise<boolean>;
  release(slug: string, endpoint: string): Promise<void>;
  /** How many events the thread has had. */
  told(uid: string): Promise<number>;
  /** Events to deliver now: new ones in order, then failed ones that are due again. */
  due(slug: string, endpoint: string, due: { nowMs: number; limit: number }): Promise<QueuedEvent[]>;
  /** When the next delivery is due; 0: now; null: the queue is empty, or the endpoint is off. */
  nextDueMs(slug: string, endpoint: string): Promise<number | null>;
  /** The event as it was stored, or sealed; null: it is gone. */
  event(ref: ToldRef): Promise<StoredEvent | null>;
  /** Stores the body to send, once: resolves to the stored one, which another process may have made. Null: the event is gone. */
  seal(ref: ToldRef, sealed: SealedEvent): Promise<SealedEvent | null>;
  /** Replaces the sealed body, if it is still `before`. False: another process replaced it, or the event is gone. */
  reseal(ref: ToldRef, before: SealedEvent, body: string): Promise<boolean>;
  /** The numbers of this thread's events for this endpoint that are not settled, queued or not, in order. */
  unsettled(uid: string, endpoint: string): Promise<string[]>;
  /** The event was delivered, given up or deleted: removes it. */
  settled(ref: ToldRef, delivery: Delivery | null): Promise<void>;
  /** The delivery failed: try again at `dueMs`; null: only when it is replayed. */
  failed(ref: ToldRef, again: { attempts: number; dueMs: number | null }, delivery: Delivery): Promise<void>;
  /** `offSinceMs`: switches it off, so that nothing is sent to it; null: on. */
  switchEndpoint(slug: string, endpoint: string, offSinceMs: number | null): Promise<void>;
  endpoint(slug: string, endpoint: string): Promise<EndpointState>;
  /** How far behind it is, for monitoring. */
  level(slug: string, endpoint: string): Promise<EndpointLevel>;
  /** Endpoints that have, or had, a queue. */
  endpoints(slug: string): Promise<string[]>;
  /** Removes an endpoint that no channel has any more; its queue must be settled before. */
  forgetEndpoint(slug: string, endpoint: string): Promise<void>;
  /** Makes all failed events due now; resolves to their number. */
  replay(slug: string, endpoint: string): Promise<number>;
  /** Some of the queue: first the events that failed most often, or were given up. */
  longestWaiting(slug: string, endpoint: string, limit: number): Promise<QueuedEvent[]>;
}

/** An event for one endpoint. */
export interface ToldRef {
  slug: string;
  endpoint: string;
  /** The thread's uid; null: the event is of no thread. */
  uid: string | null;
  /** Its number within the thread; without a thread, the event's id. */
  nth: string;
}

export interface QueuedEvent extends ToldRef {
  attempts: number;
  /** 0: it was never tried; null: given up. */
  dueMs: number | null;
}

export interface SealedEvent {
  id: string;
  body: string;
}

/** `text` is JSON of a ToldEvent. */
export type StoredEvent = { type: "told"; text: string } | ({ type: "sealed" } & SealedEvent);

/** One attempt of delivery, as the lists of deliveries show it. */
export interface Delivery {
  id: string;
  event: string;
  atMs: number;
  attempt: number;
  /** The HTTP status of the receiver; null: it did not answer. */
  status: number | null;
  /** Why it failed, in a few words; null: it succeeded. */
  fault: string | null;
  elapsedMs: number;
}

export interface EndpointState {
  waiting: number;
  offSinceMs: number | null;
  /** The latest first. */
  deliveries: Delivery[];
}

/** How far an endpoint is behind, not counting events that were given up. */
export interface EndpointLevel {
  waiting: number;
  /** Some of the waiting events; the oldest is among them. */
  oldest: ToldRef[];
  isOff: boolean;
}

/** How many deliveries are kept for each endpoint. */
export const DELIVERIES_KEPT = 100;

/** An event of no thread, with the body to send. */
export interface SealedTelling extends SealedEvent {
  endpoint: string;
  atMs: number;
}
