/**
 * What there is at one moment: processes with what they are about, the slot of the threads, the slot of the heartbeats,
 * what the replicas of both have while they lag, late requests on the wire, and what clients were told.
 *
 * States are never changed: a step copies what it changes.
 */
export interface State {
  readonly processes: readonly Process[];
  readonly shard: Shard;
  /** By process: the stamp of its last beat; 0 where it has no entry. */
  readonly beats: readonly number[];
  /** What becomes of a slot in a failover; null while its replica has everything. */
  readonly replicas: { readonly shard: Shard | null; readonly beats: readonly number[] | null };
  /** Requests whose sender waits no more. */
  readonly late: readonly Request[];
  readonly clients: Clients;
  readonly faults: Faults;
  /** What the store was asked last, and what it answered: for whoever compares, and of no consequence. */
  readonly served: { readonly request: Request; readonly answer: Answer } | null;
}

export interface Process {
  readonly status: "off" | "up" | "down";
  readonly paused: boolean;
  readonly tasks: readonly Task[];
  /** The stamp of the last beat that was answered. */
  readonly heard: number;
  /** How many fences it has named, and beats it has sent: only so that each is new. */
  readonly named: number;
  readonly sent: number;
}

/** `process * 1000 + number`, new with every claim. */
export type Fence = number;

export function holderOf(fence: Fence): number {
  return Math.floor(fence / 1000);
}

/** Everything in the slot of the threads: what one atomic step may touch, and what a failover takes back together. */
export interface Shard {
  readonly threads: readonly Thread[];
  /** Processes that may hold something here. */
  readonly listed: readonly boolean[];
  /** By process: up to which beat it claims nothing here; 0 where it is not barred. */
  readonly bars: readonly number[];
}

export interface Thread {
  readonly fence: Fence | null;
  readonly rev: number;
  readonly lastOp: Op | null;
  /** A message waited when `lastOp` was done. */
  readonly lastHadNext: boolean;
  readonly run: Run | null;
  readonly queue: readonly number[];
  /** Messages whose run ended here. */
  readonly ended: readonly number[];
  /** The entries of the lists by which a dead process's threads are found. */
  readonly own: readonly Fence[];
}

/** An operation id. A fence saves a revision with one operation only, however often it sends it. */
export interface Op {
  readonly fence: Fence;
  readonly rev: number;
}

export interface Run {
  readonly message: number;
  /** `awaiting`: a page call is pending, and the thread is released. `resumed`: its last step, as a rule. */
  readonly phase: "running" | "awaiting" | "resumed";
}

export type Request = Commit | Wait;

export interface Commit {
  readonly type: "commit";
  readonly why: "say" | "take up" | "resume" | "cancel" | "step" | "rest" | "end" | "begin";
  readonly thread: number;
  readonly fence: Fence;
  readonly claims: boolean;
  readonly takesFrom: Fence | null;
  readonly rev: number;
  /** The thread's last operation as it was read. */
  readonly readOp: Op | null;
  readonly run: Run | null;
  /** The message whose run this ends. */
  readonly ends: number | null;
  /** The waiting message that this starts. */
  readonly starts: number | null;
  readonly holds: boolean;
  /** With a claim: waits in the queue where the thread is held. */
  readonly orWait: number | null;
  /** With a claim, and bars: the stamp of the beat that it stands on. */
  readonly heard: number;
}

export type Answer =
  | { type: "committed"; rev: number; next: number | null }
  | { type: "waiting" | "changed" | "fenced" | "free" | "barred" };

export interface Wait {
  readonly type: "wait";
  readonly thread: number;
  readonly message: number;
}

export type Task =
  /** A claim, or a message to wait in a held thread's queue, on its way. */
  | { readonly type: "ask"; readonly request: Request; readonly barred: boolean }
  /** Holds a thread, as far as it knows; `request` is its next save, on its way. */
  | { readonly type: "live"; readonly request: Commit }
  /** Found silent and holding nothing; struck off the lists, or barred; or met on a list. */
  | {
      readonly type: "sweep";
      readonly stage: "empty" | "gone" | "met";
      readonly of: number;
      readonly stamp: number;
    }
  /** Follows a waiting message. */
  | { readonly type: "watch"; readonly thread: number; readonly message: number };

export interface Clients {
  /** How many messages were said; they are said in order. */
  readonly said: number;
  /** Messages answered with 200. */
  readonly acked: readonly number[];
  /** Messages that a failover has taken out of the store. */
  readonly lost: readonly number[];
  /** By message: how often a client was told its end, and how often a failover has undone it. */
  readonly told: readonly number[];
  readonly undone: readonly number[];
}

/** How often each may still happen. */
export interface Faults {
  readonly crash: number;
  readonly pause: number;
  /** A store's answer that never arrives. */
  readonly lost: number;
  /** A request that arrives after its sender gave up, or a second time. */
  readonly late: number;
  readonly threadFailover: number;
  readonly beatFailover: number;
  /** No fault, but a client's choice. */
  readonly cancel: number;
}

export interface Bounds {
  processes: number;
  /** Processes that run from the start; the others may start at any time. */
  up: number;
  threads: number;
  messages: number;
  /** What a run saves before its end: nothing, a step, or the call of a page tool. */
  course: "short" | "step" | "page";
  /** `replica`: nothing is acknowledged that the replica does not have. */
  durability: "local" | "replica";
  faults: Partial<Faults>;
}

/** Messages take turns at the threads. */
export function threadOf(message: number, bounds: Bounds): number {
  return message % bounds.threads;
}

export function initialState({ processes, up, threads, faults }: Bounds): State {
  const each = Array.from({ length: processes }, (_, process) => process);
  const thread: Thread = {
    fence: null,
    rev: 0,
    lastOp: null,
    lastHadNext: false,
    run: null,
    queue: [],
    ended: [],
    own: [],
  };
  return {
    processes: each.map((process) => ({
      status: process < up ? "up" : "off",
      paused: false,
      tasks: [],
      heard: process < up ? 1 : 0,
      named: 0,
      sent: 1,
    })),
    shard: {
      threads: Array.from({ length: threads }, () => thread),
      listed: each.map(() => false),
      bars: each.map(() => 0),
    },
    beats: each.map((process) => (process < up ? 1 : 0)),
    replicas: { shard: null, beats: null },
    late: [],
    clients: { said: 0, acked: [], lost: [], told: [], undone: [] },
    faults: {
      crash: 0,
      pause: 0,
      lost: 0,
      late: 0,
      threadFailover: 0,
      beatFailover: 0,
      cancel: 0,
      ...faults,
    },
    served: null,
  };
}
