import { setTimeout as pause } from "node:timers/promises";
import {
  ask,
  createThread,
  createVisitor,
  identify,
  terminalOf,
  textOf,
  visitorHeaders,
} from "../../faults/history/client.ts";
import type { Asking, Heard } from "../../faults/history/client.ts";
import type { WrittenFleet } from "../../faults/history/workload.ts";

/**
 * Clients that cancel their runs, that ask for long replies, and visitors who are identified as an account that has
 * visitors already: each request goes to any instance, and comes again where nobody answered.
 */
export interface OtherRequests {
  stop(): Promise<OtherCounts>;
  faults(): Promise<string[]>;
}

export interface OtherCounts {
  cancels: number;
  longReplies: number;
  identified: number;
  /** Answered with 429 or 503. */
  refused: number;
  /** No answer: the instance was down. */
  unreached: number;
  /** Streams without a terminal line. */
  cut: number;
}

interface TalkedIn {
  threadId: string;
  token: string;
  said: string[];
}

const REST_MS = 100;
const KILOBYTES = 300;
/** The model's, and those with which it begins. */
const BLOCK_CHARS = 16_000;
const FIRST_WORDS = "You said: ";

export async function startOtherRequests(fleet: WrittenFleet, each: number): Promise<OtherRequests> {
  const counts: OtherCounts = { cancels: 0, longReplies: 0, identified: 0, refused: 0, unreached: 0, cut: 0 };
  const wrong: string[] = [];
  const talkedIn: TalkedIn[] = [];
  let stopped = false;
  const anyUrl = () => fleet.victims[Math.floor(Math.random() * fleet.victims.length)]?.url ?? "";

  /** Until an instance does it. Each of these requests may be made twice. */
  async function surely(request: (url: string) => Promise<Heard>): Promise<Heard> {
    for (;;) {
      const heard = await request(anyUrl());
      if (heard.status !== null && ![429, 503].includes(heard.status)) return heard;
      if (heard.status === null) counts.unreached += 1;
      else counts.refused += 1;
      await pause(REST_MS);
    }
  }

  async function open(): Promise<TalkedIn> {
    const token = String((await surely(createVisitor)).value["visitorToken"]);
    const threadId = String((await surely((url) => createThread(url, token))).value["threadId"]);
    const thread = { threadId, token, said: [] };
    talkedIn.push(thread);
    return thread;
  }

  /** A message that got no answer may have been taken: another text is said then. */
  async function say(thread: TalkedIn, text: string, more: Pick<Asking, "onLine"> = {}): Promise<Heard> {
    const body = { threadId: thread.threadId, text };
    const heard = await ask(anyUrl(), "/v1/widget/messages", {
      ...more,
      headers: visitorHeaders(thread.token),
      body,
      onStatus: (status) => void (status === 200 && thread.said.push(text)),
    });
    if (heard.status === null) counts.unreached += 1;
    else if ([429, 503].includes(heard.status)) counts.refused += 1;
    else if (heard.status !== 200) wrong.push(`status ${heard.status}: ${text}`);
    else if (!terminalOf(heard)) counts.cut += 1;
    if (heard.status !== 200) await pause(REST_MS);
    return heard;
  }

  async function cancel(): Promise<void> {
    const thread = await open();
    const headers = visitorHeaders(thread.token);
    for (let nth = 1; !stopped; nth++) {
      const cancels: Promise<Heard>[] = [];
      const path = `/v1/widget/threads/${thread.threadId}/cancel`;
      const onLine = () => {
        if (cancels.length === 0) cancels.push(surely((url) => ask(url, path, { headers })));
      };
      const end = terminalOf(await say(thread, `Stop ${nth} #kilobytes ${KILOBYTES}`, { onLine }));
      for (const { status } of await Promise.all(cancels)) {
        if (status !== 204) wrong.push(`a cancel was answered ${status}`);
      }
      if (end?.type === "error" && end.code === "cancelled") counts.cancels += 1;
    }
  }

  async function askForLongReplies(): Promise<void> {
    const thread = await open();
    for (let nth = 1; !stopped; nth++) {
      const text = `Tell ${nth} #kilobytes ${KILOBYTES}`;
      const heard = await say(thread, text);
      if (terminalOf(heard)?.type !== "done") continue;
      const chars =
        FIRST_WORDS.length + Math.ceil((KILOBYTES * 1_000) / BLOCK_CHARS) * BLOCK_CHARS + text.length;
      const reply = textOf(heard);
      if (reply.length !== chars || !reply.endsWith(text))
        wrong.push(`a reply of ${reply.length} characters: ${text}`);
      counts.longReplies += 1;
    }
  }

  async function becomeAccount(account: string): Promise<void> {
    for (let nth = 1; !stopped; nth++) {
      const thread = await open();
      await say(thread, `I am here ${nth}`);
      const heard = await surely((url) => identify(url, thread.token, account));
      if (heard.status === 200) counts.identified += 1;
      else wrong.push(`identify was answered ${heard.status}`);
    }
  }

  const clients = Promise.all(
    Array.from({ length: each }, (_, nth) => [
      cancel(),
      askForLongReplies(),
      becomeAccount(`account ${nth}`),
    ]).flat(),
  );

  return {
    async stop() {
      stopped = true;
      await clients;
      return counts;
    },

    async faults() {
      await fleet.settled(talkedIn.map(({ threadId }) => threadId));
      for (const { threadId, token, said } of talkedIn) {
        // By its token: it is the account's by now, and its thread too.
        const path = `/v1/widget/threads/${threadId}/messages?limit=1`;
        const { status } = await ask(anyUrl(), path, { method: "GET", headers: visitorHeaders(token) });
        if (status !== 200) wrong.push(`the history of ${threadId} was answered ${status}`);
        const items = await fleet.store.history(threadId, { limit: 100_000, before: null });
        const texts = items.filter(({ role }) => role === "user").map(({ content }) => content);
        for (const text of said) if (!texts.includes(text)) wrong.push(`lost: ${text}`);
        if (new Set(texts).size !== texts.length) wrong.push(`doubled in ${threadId}`);
      }
      return wrong;
    },
  };
}
