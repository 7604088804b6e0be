import type { ChannelThreadStore } from "./store/channel-threads.ts";
import type { ChannelStore } from "./store/channels.ts";
import type { ContentKeyStore } from "./store/content-keys.ts";
import type { DeletionStore } from "./store/deletions.ts";
import type { DeskStore } from "./store/desk.ts";
import type { InstanceStore } from "./store/instances.ts";
import type { KnowledgeStore } from "./store/knowledge.ts";
import type { OperatorStore } from "./store/operators.ts";
import type { OutboxStore } from "./store/outbox.ts";
import type { StatsStore } from "./store/stats.ts";
import type { ThreadStore } from "./store/threads.ts";
import type { UserStore } from "./store/users.ts";

export { CHANGES_KEPT_MS } from "./store/channel-threads.ts";
export type {
  ChannelThread,
  ChannelThreadPage,
  ChannelThreadStore,
  PlacedThread,
  RestingThread,
  RestingThreadPage,
  ThreadChange,
} from "./store/channel-threads.ts";
export type { ChannelStore, UnreadableChannel } from "./store/channels.ts";
export type { ContentKeyStore } from "./store/content-keys.ts";
export type { Deletion, DeletionStore, ErasedThread } from "./store/deletions.ts";
export type { DeskStore } from "./store/desk.ts";
export { EVERYTHING, RETIRED } from "./store/instances.ts";
export type { Heartbeat, Hold, InstanceMessage, InstanceStore, Share } from "./store/instances.ts";
export type {
  KnowledgeStore,
  KnownSources,
  PageDocument,
  PageFailure,
  PageRecord,
  SourceRecord,
  StoredPassage,
} from "./store/knowledge.ts";
export { DELIVERIES_KEPT } from "./store/outbox.ts";
export type {
  Delivery,
  EndpointLevel,
  EndpointState,
  OutboxStore,
  QueuedEvent,
  SealedEvent,
  SealedTelling,
  StoredEvent,
  ToldRef,
} from "./store/outbox.ts";
export { pageOf } from "./store/page.ts";
export type { Page } from "./store/page.ts";
export type { AuditPage, OperatorStore, PlacedEntry } from "./store/operators.ts";
export { STATS_KEPT_DAYS } from "./store/stats.ts";
export type { CountedStats, DayStats, StatsStore } from "./store/stats.ts";
export type {
  CommitResult,
  SaidBefore,
  HistoryPage,
  Rated,
  Rating,
  RunSummary,
  RunsRead,
  Salvage,
  ThreadCommit,
  ThreadLook,
  ThreadRecord,
  ThreadState,
  ThreadStore,
  UnreadablePart,
} from "./store/threads.ts";
export type {
  IdentityReading,
  ListedThread,
  Merge,
  Promotion,
  ThreadEntry,
  ThreadList,
  ThreadPlace,
  UserAdmission,
  PlacedUser,
  UserPage,
  UserStore,
  VisitorAdmission,
} from "./store/users.ts";

export { AwayRecord, LockedRecord, NewerRecord, UnreadableRecord } from "./store/unreadable.ts";

/**
 * The store contract: what is stored, and the atomic steps that change it. It joins the contracts of store/; code that
 * needs one of them depends on that one only.
 *
 * Stores do not decide: each operation is one atomic step on one key slot, and the rules that choose the step live in
 * domain/ and machines/. There are two planes: the channel plane (`{c:SLUG}`: channels, users, tokens, and which user a
 * thread belongs to) and the thread plane (`{t:BUCKET}`: everything inside a thread, by its uid, without a user's name).
 *
 * A promise resolves when the change is as durable as DURABILITY asks. Every call is limited to STORE_DEADLINE_MS and then
 * rejects with StoreUnavailable; the outcome is unknown, and a repeat with the same `opId` gets the answer of the first
 * call. Implementations: stores/embedded.ts and stores/redis.ts; test/stores/contract/contract.ts tests both against this contract.
 */
export interface Store
  extends
    ChannelStore,
    UserStore,
    ThreadStore,
    DeskStore,
    DeletionStore,
    ChannelThreadStore,
    InstanceStore,
    OperatorStore,
    StatsStore {
  readonly kind: "embedded" | "redis";
  /** Absent: the store has no webhooks. */
  readonly outbox?: OutboxStore;
  /** Absent: the store keeps no documents. */
  readonly knowledge?: KnowledgeStore;
  /** Absent: the store has no keys of users, so nothing in it is encrypted. */
  readonly contentKeys?: ContentKeyStore;
  health(): Promise<StoreHealth>;
  close(): Promise<void>;
}

export interface StoreHealth {
  /** True if it accepts writes: a store that is read-only, or whose disk is full, is not reachable. */
  reachable: boolean;
  /** One sentence for each promise that the server's settings break (eviction, no persistence, no replica). */
  warnings: string[];
}

export const STORE_DEADLINE_MS = 2_000;

/** The store cannot be reached, did not answer in time, or could not make a change as durable as it must be. */
export class StoreUnavailable extends Error {
  constructor(action: string, options: { cause?: unknown; fact?: string } = {}) {
    const { fact = "the store does not answer", cause } = options;
    super(`Cannot ${action}: ${fact}`, cause === undefined ? {} : { cause });
    this.name = "StoreUnavailable";
  }
}
