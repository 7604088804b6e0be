import type { Share } from "./instances.ts";

/**
 * What a channel's webhooks are to be told. A commit writes an event down for each endpoint that hears of it, beside its
 * thread (ThreadCommit.tells), or beside the channel's users (`tells` of Promotion and Merge). From there it is queued for
 * its endpoint, by whoever committed it or, when that one died, by anybody. The queue has no texts: an event whose thread
 * is deleted is gone with it.
 */
export interface OutboxStore {
  /** Written down before `beforeMs`, and not queued yet, of a share of all threads and of these channels; at most `limit` of each part. */
  unqueued(look: {
    share: Share;
    slugs: readonly string[];
    beforeMs: number;
    limit: number;
  }): Promise<ToldRef[]>;
  /** Puts these events at the end of their endpoints' queues, in this order. Those that are queued already stay where they are. */
  queue(refs: readonly ToldRef[]): Promise<void>;
  /** True: this process alone delivers to the endpoint, for `leaseMs` from now on. False: another one does. */
  lease(slug: string, endpoint: string, leaseMs: number): Promise<boolean>;
  release(slug: string, endpoint: string): Promise<void>;
  /** How many events the thread has told. */
  told(uid: string): Promise<number>;
  /** What is to be delivered now: new events in their order, then those that failed and are due again. */
  due(slug: string, endpoint: string, due: { nowMs: number; limit: number }): Promise<QueuedEvent[]>;
  /** When something is to be delivered next, 0: at once; null: nothing waits, or the endpoint is off. */
  nextDueMs(slug: string, endpoint: string): Promise<number | null>;
  /** The event as it was written down, or sealed; null: it is gone. */
  event(ref: ToldRef): Promise<StoredEvent | null>;
  /** Keeps what is sent, once: answers what is kept, which may be another one's. Null: the event is gone. */
  seal(ref: ToldRef, sealed: SealedEvent): Promise<SealedEvent | null>;
  /** It was delivered, given up or is gone: forgets it. */
  settled(ref: ToldRef, delivery: Delivery | null): Promise<void>;
  /** It failed: again at `dueMs`; null: not until it is replayed. */
  failed(ref: ToldRef, again: { attempts: number; dueMs: number | null }, delivery: Delivery): Promise<void>;
  /** `offSinceMs`: nothing is sent to it; null: again. */
  switchEndpoint(slug: string, endpoint: string, offSinceMs: number | null): Promise<void>;
  endpoint(slug: string, endpoint: string): Promise<EndpointState>;
  /** How far behind it is, for whoever watches. */
  level(slug: string, endpoint: string): Promise<EndpointLevel>;
  /** Endpoints that have, or had, a queue. */
  endpoints(slug: string): Promise<string[]>;
  /** Forgets an endpoint that no channel has any more; what waits for it must be settled before. */
  forgetEndpoint(slug: string, endpoint: string): Promise<void>;
  /** Everything that failed is due now; answers how much. */
  replay(slug: string, endpoint: string): Promise<number>;
  /** Some of what waits: what failed most often, or was given up, first. */
  longestWaiting(slug: string, endpoint: string, limit: number): Promise<QueuedEvent[]>;
}

/** An event for one endpoint. */
export interface ToldRef {
  slug: string;
  endpoint: string;
  /** Of the thread; null: it is none's. */
  uid: string | null;
  /** Counts up within the thread; without a thread, the event's id. */
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

/** A try, as lists of deliveries show it. */
export interface Delivery {
  id: string;
  event: string;
  atMs: number;
  attempt: number;
  /** The receiver's status; null: none came. */
  status: number | null;
  /** Why it failed, in a few words; null: it did not. */
  fault: string | null;
  elapsedMs: number;
}

export interface EndpointState {
  waiting: number;
  offSinceMs: number | null;
  /** The latest first. */
  deliveries: Delivery[];
}

/** Without what was given up. */
export interface EndpointLevel {
  waiting: number;
  /** Among them is the one that happened first. */
  oldest: ToldRef[];
  isOff: boolean;
}

/** Deliveries that are kept of each endpoint. */
export const DELIVERIES_KEPT = 100;

/** An event of no thread, as it is sent. */
export interface SealedTelling extends SealedEvent {
  endpoint: string;
  atMs: number;
}
