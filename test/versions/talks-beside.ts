import { setTimeout as pause } from "node:timers/promises";
import { ask, createThread, createVisitor, terminalOf, textOf } from "../faults/client.ts";
import { transportHeaders, visitorHeaders } from "../faults/client.ts";
import type { Asking, Heard } from "../faults/client.ts";
import { replyTo } from "../faults/echo-model.ts";
import type { EchoModel } from "../faults/echo-model.ts";
import { TRANSPORT } from "../faults/fault-channels.ts";

/**
 * People who talk to instances of two versions, in a text that must be gone when they are deleted. Whatever stands still
 * for a while makes a 503, or ends a stream: what is asked is asked again, and a conversation is begun anew.
 */
export const CANARY = "canary-5e1d";

const REST_MS = 100;
const TOOLS = [{ name: "cart", description: `The cart, ${CANARY}` }];

export interface Visitor {
  token: string;
  threadId: string;
  headers: Record<string, string>;
}

/** A stream that goes on. */
export interface OpenStream {
  end: Promise<Heard>;
}

export async function surely(asks: () => Promise<Heard>): Promise<Heard> {
  for (;;) {
    const heard = await asks();
    if (heard.status !== null && heard.status !== 503) return heard;
    await pause(REST_MS);
  }
}

export async function enters(url: string): Promise<Visitor> {
  const { visitorToken } = (await surely(() => createVisitor(url))).value;
  const token = String(visitorToken);
  const { threadId } = (await surely(() => createThread(url, token))).value;
  return { token, threadId: String(threadId), headers: visitorHeaders(token) };
}

/** A new visitor who came in by an instance, and has begun to talk; one whose conversation did not begin is deleted at `present`. */
export async function visits<Begun>(
  { url, present }: { url: string; present: string },
  begin: (visitor: Visitor, nth: number) => Promise<Begun>,
): Promise<{ visitor: Visitor; begun: Begun }> {
  for (let nth = 1; ; nth++) {
    const visitor = await enters(url);
    try {
      await surely(() => registers(url, visitor));
      return { visitor, begun: await begin(visitor, nth) };
    } catch (error) {
      if (nth === 20) throw error;
      const path = `/v1/widget/threads/${visitor.threadId}/delete`;
      await surely(() => ask(present, path, { headers: visitor.headers }));
    }
  }
}

export function says(url: string, { headers, threadId }: Visitor, text: string, more: Asking = {}) {
  return ask(url, "/v1/widget/messages", { ...more, headers, body: { threadId, text } });
}

/** As a backend's user, in a thread `t`. */
export function saysByName(url: string, userId: string, text: string, more: Asking = {}): Promise<Heard> {
  const body = { channel: TRANSPORT, userId, threadId: "t", text };
  return ask(url, "/v1/messages", { ...more, headers: transportHeaders, body });
}

export function reads(url: string, { headers, threadId }: Visitor, what: "messages" | "stream", more = {}) {
  return ask(url, `/v1/widget/threads/${threadId}/${what}`, { ...more, method: "GET", headers });
}

function registers(url: string, { headers, threadId }: Visitor): Promise<Heard> {
  return ask(url, "/v1/widget/tools", { headers, body: { threadId, webmcpTools: TOOLS } });
}

export function historyByName(url: string, userId: string): Promise<Heard> {
  const path = `/v1/threads/t/messages?channel=${TRANSPORT}&userId=${userId}`;
  return surely(() => ask(url, path, { method: "GET", headers: transportHeaders }));
}

/** Resolves when the first line has come; rejects where the stream ends before. */
export function begun(stream: (on: Asking) => Promise<Heard>): Promise<OpenStream> {
  return opened((resolve) => stream({ onLine: resolve }));
}

/** Resolves when the message was taken: it waits for its turn. */
export function taken(stream: (on: Asking) => Promise<Heard>): Promise<OpenStream> {
  return opened((resolve) => stream({ onStatus: (status) => status === 200 && resolve() }));
}

function opened(stream: (resolve: () => void) => Promise<Heard>): Promise<OpenStream> {
  return new Promise((resolve, reject) => {
    const end = stream(() => resolve({ end }));
    void end.then(({ status }) => reject(new Error(`Cannot go on: its stream has ended, status ${status}`)));
  });
}

/** Texts whose replies the model holds in their middle. */
export function holdsTexts(model: EchoModel) {
  const held: string[] = [];
  return {
    hold: (text: string): string => {
      model.hold(text);
      held.push(text);
      return text;
    },
    releaseAll: () => {
      for (const text of held) model.release(text);
    },
  };
}

export function mustEnd(heard: Heard, type: "done" | "tool_call"): Heard {
  const end = terminalOf(heard);
  if (end?.type === type) return heard;
  throw new Error(`Cannot go on: not ${type}, but ${heard.status} ${JSON.stringify(end)}`);
}

/** Says something, until it is replied to as it should be. */
export async function isAnswered(talk: (text: string) => Promise<Heard>, what = "Anew"): Promise<void> {
  for (let nth = 1; ; nth++) {
    const text = `${what} ${nth}`;
    const heard = await surely(() => talk(text));
    if (terminalOf(heard)?.type === "done" && textOf(heard) === replyTo(text)) return;
    if (nth === 20) throw new Error(`Cannot talk on: ${heard.status} ${JSON.stringify(heard.lines)}`);
  }
}

/** Talks and registers tools without a rest, until neither is taken; resolves to the last statuses. */
export async function goesOnTalking(url: string, visitor: Visitor): Promise<number[]> {
  const until = async (asks: () => Promise<Heard>) => {
    for (;;) {
      const { status } = await surely(asks);
      if (status !== null && status >= 400) return status;
    }
  };
  return Promise.all([
    until(() => says(url, visitor, `${CANARY} goes on`)),
    until(() => registers(url, visitor)),
  ]);
}

/** What an instance answers to all that can be asked of a visitor's thread. */
export async function allAnswers(url: string, visitor: Visitor): Promise<(number | null)[]> {
  const { headers, threadId } = visitor;
  const result = { threadId, callId: "c1", tool: "cart", result: CANARY };
  const answers = await Promise.all([
    surely(() => reads(url, visitor, "messages")),
    surely(() => reads(url, visitor, "stream")),
    surely(() => says(url, visitor, `${CANARY} comes after`)),
    surely(() => registers(url, visitor)),
    surely(() => ask(url, "/v1/widget/tool-results", { headers, body: result })),
    surely(() => ask(url, `/v1/widget/threads/${threadId}/cancel`, { headers })),
  ]);
  return answers.map(({ status }) => status);
}
