/** The instances of the service: heartbeats, threads that need recovery, and messages between instances. */
export interface InstanceStore {
  /** This process, in fences and messages: random, new at each start. */
  readonly processId: string;

  /** Renews this process's heartbeat, and resolves to those of all other processes. */
  beat(): Promise<Heartbeat[]>;
  /**
   * The store's time of day, Unix ms: the same for all instances, read every few heartbeats and advanced between them by this
   * process's monotonic clock. Null: not read yet. Absent: only this machine uses the store, and its clock is the store's.
   */
  timeMs?(): number | null;
  /** This process will not beat again: sets its stamp to RETIRED. */
  retire(): Promise<void>;
  /** Gives a heartbeat to each of these processes that has none: from then on it beats, or is found silent. */
  enter(processIds: readonly string[]): Promise<void>;
  /** Processes that hold a thread of this share, and some that no longer do. */
  holders(share: Share): Promise<string[]>;
  /** Threads that a process holds; `null`, on the embedded store only: that any process but this one holds. */
  heldBy(processId: string | null, share?: Share): Promise<Hold[]>;
  /** Removes a process that holds nothing, unless it has beaten since this heartbeat. */
  forget(gone: Heartbeat): Promise<void>;
  /** Threads whose pending call's deadline is at or before `atMs`, without `except`; at most `limit`. */
  due(atMs: number, limit: number, share?: Share, except?: ReadonlySet<string>): Promise<string[]>;
  /**
   * Calls back after a new connection to the store: a failover may have undone writes, so that the store names this
   * process as holder of threads that it has released. Returns a function that ends it.
   */
  onReconnect(callback: () => void): () => void;

  /** To another instance; best effort, never awaited for safety. */
  send(processId: string, message: InstanceMessage): void;
  /** Messages to this process. One handler. */
  onMessage(handler: (message: InstanceMessage) => void): void;
}

/** The stamp changes with each beat and has no other meaning, except RETIRED: the process will not beat again. */
export interface Heartbeat {
  processId: string;
  stamp: string;
}

export const RETIRED = "0";

export interface Hold {
  uid: string;
  fence: string;
}

/** A part of all threads: the shares of rank 0 to `of` - 1 together cover every thread at least once. */
export interface Share {
  rank: number;
  of: number;
}

export const EVERYTHING: Share = { rank: 0, of: 1 };

/** A message from one instance to another; best effort. */
export type InstanceMessage = Record<string, unknown>;
