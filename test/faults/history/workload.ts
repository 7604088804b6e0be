import { setTimeout as pause } from "node:timers/promises";
import { isTerminal } from "../../../machines/line.ts";
import { ask, createThread, createVisitor, textOf, visitorHeaders } from "./client.ts";
import type { Heard } from "./client.ts";
import { replyTo } from "../victims/echo-model.ts";
import { PUBLISHABLE_KEY } from "../fault-channels.ts";
import { StoreUnavailable } from "../../../src/store.ts";
import type { Store } from "../../../src/store.ts";
import { historyFaults } from "./history-check.ts";
import type { Append, Reading } from "./history-check.ts";

/** Many clients that append unique texts to threads, each message to any instance, and what they were told. */
export interface Workload {
  /** Stops writing; resolves when the last answers are in. */
  stop(): Promise<void>;
  readonly acknowledged: number;
  /** Answered with another status than 200. */
  readonly refused: number;
  /** Not answered: the instance was down, or went down. */
  readonly unreached: number;
  /** Streams that ended before their terminal line. */
  readonly cut: number;
  readonly threads: readonly { threadId: string; publishableKey: string }[];
  /** What is wrong, after everything has settled; empty where all is well. */
  faults(): Promise<string[]>;
}

/** What became of one request to write. */
export interface Answer {
  threadId: string;
  sentAtMs: number;
  /** When its status came, or nothing any more. */
  atMs: number;
  /** null: none came. */
  status: number | null;
}

export interface WorkloadOptions {
  threads: number;
  /** Clients that write to one thread at once. */
  writers: number;
  /** Only to instances that this names; by default to all. */
  urls?: () => string[];
  /** Who has not heard everything by then goes away, and writes the next text; by default nobody does, and it is a fault. */
  patienceMs?: number;
  /** Threads are of the channels with these keys by turns; by default of the one of all fault tests. */
  publishableKeys?: readonly string[];
  onAnswer?: (answer: Answer) => void;
}

/** A stream that is not over by then hangs: no fault of ours lasts half as long. */
const HANGS_MS = 60_000;
const REST_MS = 100;
const READS_EVERY = 10;

interface WrittenThread {
  threadId: string;
  token: string;
  publishableKey: string;
  appends: Append[];
  readings: Reading[];
}

/** What is written to: processes of the service, and the store that they share. */
export interface WrittenFleet {
  store: Pick<Store, "history">;
  victims: { url: string }[];
  /** Resolves when no thread of these runs or waits. */
  settled(uids: Iterable<string>): Promise<void>;
}

export async function startWorkload(fleet: WrittenFleet, options: WorkloadOptions): Promise<Workload> {
  const { writers, patienceMs = HANGS_MS, urls = () => fleet.victims.map(({ url }) => url) } = options;
  const { publishableKeys = [PUBLISHABLE_KEY], onAnswer = () => {} } = options;
  const faults: string[] = [];
  let stopped = false;
  let acknowledged = 0;
  let refused = 0;
  let unreached = 0;
  let cut = 0;
  const threads = await Promise.all(
    Array.from({ length: options.threads }, (_, index) =>
      open(anyUrl, publishableKeys[index % publishableKeys.length] ?? PUBLISHABLE_KEY),
    ),
  );
  const writing = Promise.all(
    threads.flatMap((thread) => Array.from({ length: writers }, (_, index) => write(thread, index))),
  );

  function anyUrl(): string {
    const all = urls();
    return all[Math.floor(Math.random() * all.length)] ?? "";
  }

  async function write(thread: WrittenThread, writer: number): Promise<void> {
    const headers = visitorHeaders(thread.token);
    for (let count = 1; !stopped; count++) {
      const append: Append = {
        text: `${thread.threadId} ${writer} ${count}`,
        sentAtMs: performance.now(),
        ackedAtMs: null,
      };
      thread.appends.push(append);
      let atMs: number | null = null;
      const heard = await ask(anyUrl(), "/v1/widget/messages", {
        headers,
        body: { threadId: thread.threadId, text: append.text },
        withinMs: patienceMs,
        onStatus(status) {
          atMs = performance.now();
          if (status !== 200) return;
          append.ackedAtMs = atMs;
          acknowledged += 1;
        },
      });
      const { threadId } = thread;
      onAnswer({
        threadId,
        sentAtMs: append.sentAtMs,
        atMs: atMs ?? performance.now(),
        status: heard.status,
      });
      judge(append, heard);
      if (heard.status !== 200) await pause(REST_MS);
      if (count % READS_EVERY === 0) await read(thread, headers);
    }
  }

  function judge(append: Append, heard: Heard): void {
    const { status, lines } = heard;
    if (performance.now() - append.sentAtMs >= HANGS_MS) faults.push(`hangs: ${append.text}`);
    if (status === null) unreached += 1;
    else if (status !== 200) refused += 1;
    if (status !== null && ![200, 429, 503].includes(status)) faults.push(`status ${status}: ${append.text}`);
    if (status !== 200) return;
    const end = lines.findIndex(isTerminal);
    const wentAway = performance.now() - append.sentAtMs >= patienceMs;
    if (end === -1) cut += wentAway ? 0 : 1;
    else if (end !== lines.length - 1) faults.push(`lines after the terminal one: ${append.text}`);
    if (lines.at(-1)?.type === "done" && textOf(heard) !== replyTo(append.text)) {
      faults.push(`a stream with another text: ${append.text}: ${textOf(heard)}`);
    }
  }

  async function read(thread: WrittenThread, headers: Record<string, string>): Promise<void> {
    const path = `/v1/widget/threads/${thread.threadId}/messages`;
    const { status, value } = await ask(anyUrl(), path, { method: "GET", headers, withinMs: HANGS_MS });
    if (status === 200 && "items" in value) thread.readings.push(value["items"] as Reading);
  }

  return {
    async stop() {
      stopped = true;
      await writing;
    },
    get acknowledged() {
      return acknowledged;
    },
    get refused() {
      return refused;
    },
    get unreached() {
      return unreached;
    },
    get cut() {
      return cut;
    },
    threads,
    async faults() {
      await fleet.settled(threads.map(({ threadId }) => threadId));
      const found = [...faults];
      for (const { threadId, appends, readings } of threads) {
        const history = await wholeHistory(fleet, threadId);
        found.push(...historyFaults(history, appends, readings));
      }
      return found;
    },
  };
}

async function open(anyUrl: () => string, publishableKey: string): Promise<WrittenThread> {
  const visitor = await untilTaken(() => createVisitor(anyUrl(), publishableKey));
  const token = String(visitor.value["visitorToken"]);
  const threadId = String((await untilTaken(() => createThread(anyUrl(), token))).value["threadId"]);
  return { threadId, token, publishableKey, appends: [], readings: [] };
}

/** On a busy machine a store may miss its deadline: its callers ask again. */
async function untilTaken(request: () => Promise<Heard>): Promise<Heard> {
  for (;;) {
    const heard = await request();
    if (heard.status !== null && heard.status < 300) return heard;
    await pause(REST_MS);
  }
}

async function wholeHistory({ store }: WrittenFleet, uid: string) {
  const pages = [];
  for (let before: string | null = null; ;) {
    const page = await untilAnswered(() => store.history(uid, { limit: 1_000, before }));
    const [first] = page;
    if (!first) return pages.reverse().flat();
    pages.push(page);
    before = first.id;
  }
}

/** Of the checker's own store: it may be back a moment later than the instances', or miss its deadline on a busy machine. */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await pause(REST_MS);
    }
  }
}
