/** The instances of the service: heartbeats, threads that need recovery, and messages between instances. */
export interface InstanceStore {
  /** This process, in fences and messages: random, new at each start. */
  readonly processId: string;

  /** Says that this process lives, and answers the heartbeats of all others. */
  beat(): Promise<Heartbeat[]>;
  /** Says that this process will not beat again: its stamp is RETIRED from now on. */
  retire(): Promise<void>;
  /** Gives each of these processes a heartbeat where it has none: from now on it beats, or is found silent. */
  enter(processIds: readonly string[]): Promise<void>;
  /** Processes that may hold a thread of this share: each that holds one, and some that do not any more. */
  holders(share: Share): Promise<string[]>;
  /** Threads that a process of this id holds; on the embedded store also of every process but this one (`null`). */
  heldBy(processId: string | null, share?: Share): Promise<Hold[]>;
  /** Forgets a process that holds nothing, unless it has beaten since it was found silent by this heartbeat. */
  forget(gone: Heartbeat): Promise<void>;
  /** Threads whose pending call's deadline is at or before `atMs`, without `except`; at most `limit`. */
  due(atMs: number, limit: number, share?: Share, except?: ReadonlySet<string>): Promise<string[]>;
  /**
   * Calls back when a connection to the store was made anew: the store may have gone back to an earlier state
   * meanwhile, in which this process holds what it has released since. Returns how to stop.
   */
  onReconnect(callback: () => void): () => void;

  /** To another instance; best effort, never awaited for safety. */
  send(processId: string, message: InstanceMessage): void;
  /** Messages to this process. One handler. */
  onMessage(handler: (message: InstanceMessage) => void): void;
}

/** Another stamp with each beat; nothing else is to be read from it, but that its process has retired. */
export interface Heartbeat {
  processId: string;
  stamp: string;
}

export const RETIRED = "0";

export interface Hold {
  uid: string;
  fence: string;
}

/** A part of all threads: the shares of rank 0 to `of` - 1 have each thread at least once between them. */
export interface Share {
  rank: number;
  of: number;
}

export const EVERYTHING: Share = { rank: 0, of: 1 };

/** A message from one instance to another; best effort. */
export type InstanceMessage = Record<string, unknown>;
