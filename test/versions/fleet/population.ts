import { setTimeout as pause } from "node:timers/promises";
import {
  ask,
  createThread,
  createVisitor,
  terminalOf,
  textOf,
  transportHeaders,
  visitorHeaders,
} from "../../faults/history/client.ts";
import type { Heard } from "../../faults/history/client.ts";
import { replyTo } from "../../faults/victims/echo-model.ts";
import type { EchoModel } from "../../faults/victims/echo-model.ts";
import type { Store } from "../../../src/store.ts";
import { threadUid } from "../../../src/domain/threads/thread-uid.ts";
import { TRANSPORT } from "../../faults/fault-channels.ts";

/** Threads in all states that a service leaves behind, made by talking to one, and what each of them must still do later. */
export type KeptState =
  | "done"
  | "silent"
  | "failed"
  | "cancelled"
  | "answered"
  | "awaiting"
  | "awaiting its second call"
  | "running"
  | "running with a queue";

export interface KeptThread {
  state: KeptState;
  threadId: string;
  /** null: a user of the server API, whose id is the thread's. */
  token: string | null;
  /** Acknowledged messages, in their order. */
  said: string[];
  /** Of the pending page call. */
  callId: string | null;
}

const OTHERS: readonly KeptState[] = [
  "silent",
  "failed",
  "cancelled",
  "answered",
  "awaiting",
  "awaiting its second call",
  "running",
  "running with a queue",
];
/** All states in small numbers; most threads of a service are done. */
const OTHERS_IN_HUNDRED = 20;
const THREADS_OF_A_VISITOR = 20;
const AT_ONCE = 32;
const REST_MS = 100;
const MOST_TRIES = 20;

export interface Population {
  threads: KeptThread[];
  /** Lets the runs end that were left in the middle. */
  release: () => void;
}

/** `count` threads by way of one instance. Runs are held by the model: they are in progress until `release`. */
export async function populate(url: string, model: EchoModel, count: number): Promise<Population> {
  const held: string[] = [];
  let token: Promise<string> | null = null;
  let tokenUses = 0;
  let nth = 0;
  const threads: KeptThread[] = [];

  /** Each visitor has several threads. */
  async function newToken(): Promise<string> {
    if (tokenUses++ % THREADS_OF_A_VISITOR === 0) token = null;
    token ??= createVisitor(url).then((heard) => valueOf(heard, "visitorToken"));
    try {
      return await token;
    } catch (error) {
      token = null;
      throw error;
    }
  }

  async function fill(): Promise<void> {
    for (let index = nth++; index < count; index = nth++) {
      threads.push(await made(index));
    }
  }

  /** On a busy machine a store may miss its deadline: another thread is made then. */
  async function made(index: number): Promise<KeptThread> {
    const state = stateOf(index);
    for (let tries = 1; ; tries++) {
      try {
        return await (state === "done" ? ofBackend(`${index}-${tries}`) : ofPage(`${index}-${tries}`, state));
      } catch (error) {
        if (tries === MOST_TRIES) throw error;
        await pause(REST_MS);
      }
    }
  }

  async function ofBackend(index: string): Promise<KeptThread> {
    const threadId = `kept-${index}`;
    const thread: KeptThread = { state: "done", threadId, token: null, said: [], callId: null };
    mustEnd(await say(url, thread, `Hello ${index}`), "done");
    return thread;
  }

  async function ofPage(index: string, state: KeptState): Promise<KeptThread> {
    const token = await newToken();
    const threadId = valueOf(await createThread(url, token), "threadId");
    const thread: KeptThread = { state, threadId, token, said: [], callId: null };
    const headers = visitorHeaders(token);
    const webmcpTools = [{ name: "cart", description: "The cart" }];
    mustBe(204, await ask(url, "/v1/widget/tools", { headers, body: { threadId, webmcpTools } }));
    switch (state) {
      case "failed":
        mustEnd(await say(url, thread, `Fail ${index} #refused`), "error");
        break;
      case "answered":
        thread.callId = callOf(await say(url, thread, `Buy ${index} #calls cart`));
        mustEnd(await answer(url, thread), "done");
        break;
      case "awaiting":
        thread.callId = callOf(await say(url, thread, `Buy ${index} #calls cart`));
        break;
      case "awaiting its second call":
        thread.callId = callOf(await say(url, thread, `Buy ${index} #calls cart,cart`));
        thread.callId = callOf(await answer(url, thread));
        break;
      case "cancelled":
        await begin(thread, `Stop ${index}`);
        mustBe(204, await ask(url, `/v1/widget/threads/${threadId}/cancel`, { headers }));
        break;
      case "running":
        await begin(thread, `Tell ${index}`);
        break;
      case "running with a queue":
        await begin(thread, `Tell ${index}`);
        await queue(thread, `And then ${index}`);
        break;
      case "done":
      case "silent":
    }
    return thread;
  }

  /** Resolves when the run is in the middle of its text; the client goes away with its process. */
  async function begin(thread: KeptThread, text: string): Promise<void> {
    model.hold(text);
    held.push(text);
    await new Promise<void>((resolve, reject) => {
      void say(url, thread, text, () => resolve()).then(({ status }) =>
        reject(new Error(`Cannot begin a run: its stream has ended, status ${status}`)),
      );
    });
  }

  /** Resolves when it was acknowledged. */
  async function queue(thread: KeptThread, text: string): Promise<void> {
    const before = thread.said.length;
    let isOver = false;
    void say(url, thread, text).then(() => (isOver = true));
    while (thread.said.length === before) {
      if (isOver) throw new Error("Cannot go on: a message was not queued");
      await pause(REST_MS / 10);
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, fill));
  return {
    threads,
    release() {
      for (const text of held) model.release(text);
    },
  };
}

function stateOf(index: number): KeptState {
  const step = 100 / OTHERS_IN_HUNDRED;
  if (index % step !== 0) return "done";
  return OTHERS[(index / step) % OTHERS.length] ?? "done";
}

/** One message; it counts as said when it is acknowledged. */
async function say(
  url: string,
  thread: KeptThread,
  text: string,
  onLine: () => void = () => {},
): Promise<Heard> {
  const { threadId, token } = thread;
  const body = { threadId, text };
  const onStatus = (status: number) => {
    if (status === 200) thread.said.push(text);
  };
  if (token !== null) {
    return ask(url, "/v1/widget/messages", { headers: visitorHeaders(token), body, onStatus, onLine });
  }
  const message = { ...body, channel: TRANSPORT, userId: threadId };
  return ask(url, "/v1/messages", { headers: transportHeaders, body: message, onStatus, onLine });
}

async function answer(url: string, { threadId, token, callId }: KeptThread): Promise<Heard> {
  const body = { threadId, callId, tool: "cart", result: "ok" };
  return ask(url, "/v1/widget/tool-results", { headers: visitorHeaders(token ?? ""), body });
}

function callOf(heard: Heard): string {
  const end = terminalOf(heard);
  if (end?.type !== "tool_call")
    throw new Error(`Cannot go on: no call, but ${heard.status} ${JSON.stringify(end)}`);
  return end.callId;
}

function mustBe(status: number, heard: Heard): void {
  if (heard.status !== status) throw new Error(`Cannot go on: not ${status}, but ${heard.status}`);
}

function valueOf({ status, value }: Heard, name: string): string {
  const found = value[name];
  if (typeof found !== "string") throw new Error(`Cannot go on: no ${name}, but ${status}`);
  return found;
}

function mustEnd(heard: Heard, type: "done" | "error"): void {
  const end = terminalOf(heard);
  if (end?.type !== type)
    throw new Error(`Cannot go on: not ${type}, but ${heard.status} ${JSON.stringify(end)}`);
}

/** Goes on with a thread where it stands: its pending call is answered, its runs have ended, and one more message is replied to. */
async function goesOn(url: string, thread: KeptThread): Promise<string[]> {
  const { state, threadId, token } = thread;
  const faults: string[] = [];
  if (state === "awaiting" || state === "awaiting its second call") {
    const [end] = (await answer(url, thread)).lines.slice(-1);
    if (end?.type !== "done") faults.push(`${threadId}, ${state}: its answer led to ${JSON.stringify(end)}`);
  }
  if (state.startsWith("running") && token !== null) await followed(url, threadId, token);
  const heard = await say(url, thread, "And now?");
  if (textOf(heard) !== replyTo("And now?"))
    faults.push(`${threadId}, ${state}: replied ${heard.status} ${JSON.stringify(heard.lines.slice(-1))}`);
  return faults;
}

/** Until no run is active: a queue's message comes after its run. */
async function followed(url: string, threadId: string, token: string): Promise<void> {
  for (;;) {
    const path = `/v1/widget/threads/${threadId}/stream`;
    const { status } = await ask(url, path, { method: "GET", headers: visitorHeaders(token) });
    if (status === 204 || status === 200) return;
    await pause(REST_MS);
  }
}

/** Of those that are done, so many are gone on with; of all others each one. */
const DONE_GONE_ON_WITH = 100;

/** Every thread holds what was acknowledged in it, once and in its order; those that were not done, and some that were, go on. */
export async function populationFaults(
  threads: readonly KeptThread[],
  { store, urls }: { store: Pick<Store, "history">; urls: readonly string[] },
): Promise<string[]> {
  const faults: string[] = [];
  let nth = 0;
  let done = 0;
  async function goOn(): Promise<void> {
    for (let index = nth++; index < threads.length; index = nth++) {
      const thread = threads[index];
      if (!thread) return;
      const url = urls[index % urls.length] ?? "";
      if (thread.state !== "done" || done++ < DONE_GONE_ON_WITH) faults.push(...(await goesOn(url, thread)));
      faults.push(...wrongIn(thread, await userTexts(store, thread)));
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, goOn));
  return faults;
}

async function userTexts(store: Pick<Store, "history">, { threadId, token }: KeptThread): Promise<string[]> {
  const uid = token === null ? threadUid(TRANSPORT, threadId, threadId) : threadId;
  const items = await store.history(uid, { limit: 100, before: null });
  return items.filter(({ role }) => role === "user").map(({ content }) => content);
}

/** What of the acknowledged messages is lost, doubled or out of order. */
function wrongIn({ threadId, state, said }: KeptThread, held: readonly string[]): string[] {
  if (JSON.stringify(held) === JSON.stringify(said)) return [];
  return [`${threadId}, ${state}: said ${JSON.stringify(said)}, holds ${JSON.stringify(held)}`];
}
