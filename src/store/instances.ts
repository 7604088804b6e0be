/** The instances of the service: heartbeats, threads that need recovery, and messages between instances. */
export interface InstanceStore {
  /** This process, in fences and messages: random, new at each start. */
  readonly processId: string;

  /** Says that this process lives, and answers which processes were last heard of more than `ttlMs` ago. */
  beat(ttlMs: number): Promise<string[]>;
  /** Says that this process will not beat again: the others find it silent at their next beat. */
  retire(): Promise<void>;
  /** Threads that a process of this id holds; on the embedded store also of every process but this one (`null`). */
  heldBy(processId: string | null): Promise<{ uid: string; fence: string }[]>;
  /** A process whose threads have all been taken is forgotten. */
  forget(processId: string): Promise<void>;
  /** Threads whose pending call's deadline is at or before `atMs`, without `except`; at most `limit`. */
  due(atMs: number, limit: number, except?: ReadonlySet<string>): Promise<string[]>;

  /** To another instance; best effort, never awaited for safety. */
  send(processId: string, message: InstanceMessage): void;
  /** Messages to this process. One handler. */
  onMessage(handler: (message: InstanceMessage) => void): void;
}

/** A message from one instance to another; best effort. */
export type InstanceMessage = Record<string, unknown>;
