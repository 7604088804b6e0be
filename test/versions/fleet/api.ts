import { openStream } from "./client.ts";
import type { ReadStream } from "./client.ts";

/** Where a service is, and with which of its keys a backend comes. */
export interface Backend {
  url: string;
  transportKey: string;
}

export interface ServerMessage {
  channel: string;
  userId: string;
  threadId: string;
  text: string;
  displayName?: string;
  replaces?: string;
  files?: string[];
}

type ThreadName = Pick<ServerMessage, "channel" | "userId" | "threadId">;

export function sendMessage(
  { url, transportKey }: Backend,
  message: ServerMessage,
  headers: Record<string, string> = {},
): Promise<ReadStream> {
  return openStream(`${url}/v1/messages`, {
    headers: { ...bearer(transportKey), ...headers },
    body: message,
  });
}

/** The active or last run of a thread again. */
export function followRun(
  { url, transportKey }: Backend,
  { threadId, ...whose }: ThreadName,
): Promise<ReadStream> {
  const query = new URLSearchParams(whose).toString();
  const path = `${url}/v1/threads/${encodeURIComponent(threadId)}/stream?${query}`;
  return openStream(path, { method: "GET", headers: bearer(transportKey) });
}

/** A reply once more. */
export function answerAgain(
  { url, transportKey }: Backend,
  { threadId, ...body }: ThreadName & { messageId: string },
): Promise<ReadStream> {
  return openStream(`${url}/v1/threads/${threadId}/regenerate`, { headers: bearer(transportKey), body });
}

/** Keeps a text as a file of a thread: its id. */
export async function keepFile(
  { url, transportKey }: Backend,
  { threadId, text, ...query }: ThreadName & { name: string; text: string },
): Promise<string> {
  const path = `${url}/v1/threads/${threadId}/files?${new URLSearchParams(query).toString()}`;
  const kept = await fetch(path, { method: "POST", headers: bearer(transportKey), body: text });
  if (kept.status !== 201) throw new Error(`Cannot keep a file: ${kept.status} ${await kept.text()}`);
  return ((await kept.json()) as { id: string }).id;
}

/** The text of a file. */
export async function readFileOf(
  { url, transportKey }: Backend,
  { threadId, fileId, ...query }: ThreadName & { fileId: string },
): Promise<string> {
  const path = `${url}/v1/threads/${threadId}/files/${fileId}?${new URLSearchParams(query).toString()}`;
  return (await fetch(path, { headers: bearer(transportKey) })).text();
}

export async function cancelMessage({ url, transportKey }: Backend, body: Omit<ServerMessage, "text">) {
  await mustBe(204, `${url}/v1/messages/cancel`, bearer(transportKey), body);
}

/** What a transport does in a thread beside messages. */
export async function inThread(
  { url, transportKey }: Backend,
  what: "approvals" | "feedback" | "handoff" | "say",
  { threadId, ...body }: ThreadName & Record<string, unknown>,
): Promise<void> {
  const path = `${url}/v1/threads/${threadId}/${what}`;
  await mustBe(what === "say" ? 201 : 204, path, bearer(transportKey), body);
}

/** What an operator does in a thread. */
export async function act(
  url: string,
  key: string,
  {
    slug,
    uid,
    what,
    body,
  }: { slug: string; uid: string; what: "take" | "messages" | "notes" | "return" | "close"; body: object },
): Promise<void> {
  const path = `${url}/v1/operator/channels/${slug}/threads/${encodeURIComponent(uid)}/${what}`;
  await mustBe(what === "messages" || what === "notes" ? 201 : 200, path, bearer(key), body);
}

export async function askAccess(
  { url, transportKey }: Backend,
  body: { channel: string; externalUserId: string; displayName?: string },
): Promise<{ allowed: boolean; userId: string }> {
  return (await mustBe(200, `${url}/v1/access`, bearer(transportKey), body)).json() as Promise<{
    allowed: boolean;
    userId: string;
  }>;
}

export function identify(
  url: string,
  {
    slug,
    secretKey,
    ...body
  }: { slug: string; secretKey: string; visitorToken: string; externalUserId: string },
): Promise<Response> {
  return post(`${url}/v1/channels/${slug}/identify`, bearer(secretKey), body);
}

/** A page with a visitor's token. */
export interface Page {
  openThread(): Promise<string>;
  register(threadId: string, webmcpTools: object[]): Promise<void>;
  say(message: {
    threadId: string;
    text: string;
    page?: string;
    customerContext?: object;
  }): Promise<ReadStream>;
  answer(answered: {
    threadId: string;
    callId: string;
    tool: string;
    result: unknown;
    page?: string;
  }): Promise<ReadStream>;
  /** The active or last run again. */
  follow(threadId: string): Promise<ReadStream>;
  cancel(threadId: string): Promise<void>;
  askForPerson(threadId: string, reason: string): Promise<void>;
  /** The status, and the items where there are any. */
  history(threadId: string, more?: Record<string, string>): Promise<{ status: number; items: HistoryItem[] }>;
}

export interface HistoryItem {
  id: string;
  role: string;
  content: string;
}

export function openPage(url: string, { origin, token }: { origin: string; token: string }): Page {
  const base = `${url}/v1/widget`;
  const headers = { origin, "x-visitor-token": token };
  return {
    async openThread() {
      const { threadId } = (await (await mustBe(201, `${base}/threads`, headers)).json()) as {
        threadId: string;
      };
      return threadId;
    },
    async register(threadId, webmcpTools) {
      await mustBe(204, `${base}/tools`, headers, { threadId, webmcpTools });
    },
    say: (message) => openStream(`${base}/messages`, { headers, body: message }),
    answer: (answered) => openStream(`${base}/tool-results`, { headers, body: answered }),
    follow: (threadId) => openStream(`${base}/threads/${threadId}/stream`, { method: "GET", headers }),
    async cancel(threadId) {
      await mustBe(204, `${base}/threads/${threadId}/cancel`, headers);
    },
    async askForPerson(threadId, reason) {
      await mustBe(204, `${base}/threads/${threadId}/handoff`, headers, { reason });
    },
    async history(threadId, more = {}) {
      const path = `${base}/threads/${threadId}/messages?limit=100`;
      const response = await fetch(path, { headers: { ...headers, ...more } });
      if (response.status !== 200) return { status: response.status, items: [] };
      const { items } = (await response.json()) as { items: HistoryItem[] };
      return { status: 200, items };
    },
  };
}

/** A new visitor's token. */
export async function mintVisitor(url: string, origin: string, publishableKey: string): Promise<string> {
  const headers = { origin, "x-publishable-key": publishableKey };
  const minted = await mustBe(201, `${url}/v1/widget/visitors`, headers);
  return ((await minted.json()) as { visitorToken: string }).visitorToken;
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` };
}

function post(url: string, headers: Record<string, string>, body?: unknown): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function mustBe(
  status: number,
  url: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Response> {
  const response = await post(url, headers, body);
  if (response.status === status) return response;
  throw new Error(`Cannot go on: ${url} answered ${response.status}: ${await response.text()}`);
}
