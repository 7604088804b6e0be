import type { PageTool } from "../../../src/domain/channels/page-tool.ts";
import type { Line } from "../../../machines/line.ts";
import type { HttpRequest } from "../../../src/listener.ts";
import { KEEPER, operatorKey, ORIGIN, PUBLISHABLE_KEY, SECRET_KEY, TRANSPORT_KEY } from "../channels.ts";
import type { About } from "./exchange.ts";

/** A request as a client sends it. */
export interface SentRequest {
  about: About;
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: string;
  headers: Record<string, string>;
  body: unknown;
  /** Is told the lines of a stream as they come. */
  onLine?: (line: Line) => void;
}

const JSON_TYPE = { "content-type": "application/json" };
const widget = (token: string) => ({ origin: ORIGIN, "x-visitor-token": token });

export function mint(): SentRequest {
  const headers = { origin: ORIGIN, "x-publishable-key": PUBLISHABLE_KEY };
  return { about: { type: "mint" }, method: "POST", path: "/v1/widget/visitors", headers, body: null };
}

export function createThread(token: string): SentRequest {
  const about: About = { type: "thread", token };
  return { about, method: "POST", path: "/v1/widget/threads", headers: widget(token), body: null };
}

/** `id`: the clientMessageId; null: none. */
export function sayOnPage(
  token: string,
  {
    uid,
    text,
    id,
    replaces,
  }: { uid: string; text: string; id: string | null; replaces?: string | undefined },
): SentRequest {
  const place = replaces === undefined ? {} : { replaces };
  return {
    about: { type: "say", uid, text, id, ...place },
    method: "POST",
    path: "/v1/widget/messages",
    headers: { ...widget(token), ...JSON_TYPE },
    body: { threadId: uid, text, page: "/cart", ...(id === null ? {} : { clientMessageId: id }), ...place },
  };
}

export function answerAgain(
  token: string,
  { uid, messageId, id }: { uid: string; messageId: string; id: string },
): SentRequest {
  return {
    about: { type: "again", uid, messageId, id },
    method: "POST",
    path: `/v1/widget/threads/${uid}/regenerate`,
    headers: { ...widget(token), ...JSON_TYPE },
    body: { messageId, clientMessageId: id, page: "/cart" },
  };
}

export function approveOnPage(
  token: string,
  { uid, callId, approved }: { uid: string; callId: string; approved: boolean },
): SentRequest {
  return {
    about: { type: "approve", uid, callId, approved },
    method: "POST",
    path: `/v1/widget/threads/${uid}/approvals`,
    headers: { ...widget(token), ...JSON_TYPE },
    body: { callId, approved },
  };
}

export function answerCall(
  token: string,
  answer: { uid: string; callId: string; tool: string; text: string; isWrong: boolean },
): SentRequest {
  const { uid, callId, tool, text } = answer;
  return {
    about: { type: "answer", ...answer },
    method: "POST",
    path: "/v1/widget/tool-results",
    headers: { ...widget(token), ...JSON_TYPE },
    body: { threadId: uid, callId, tool, result: text },
  };
}

/** `runId`: the run that is meant; null: the active or last one. */
export function followThread(token: string, uid: string, runId: string | null): SentRequest {
  return {
    about: { type: "follow", uid, runId },
    method: "GET",
    path: `/v1/widget/threads/${uid}/stream`,
    query: runId === null ? "" : `run=${runId}`,
    headers: widget(token),
    body: null,
  };
}

export function readHistory(token: string, uid: string, limit: number): SentRequest {
  const path = `/v1/widget/threads/${uid}/messages`;
  const about: About = { type: "history", uid, limit };
  return { about, method: "GET", path, query: `limit=${limit}`, headers: widget(token), body: null };
}

export function cancelOnPage(token: string, uid: string): SentRequest {
  const path = `/v1/widget/threads/${uid}/cancel`;
  return { about: { type: "cancel", uid }, method: "POST", path, headers: widget(token), body: null };
}

export function setCatalog(token: string, uid: string, tools: readonly PageTool[]): SentRequest {
  return {
    about: { type: "catalog", uid, catalog: JSON.stringify(tools) },
    method: "POST",
    path: "/v1/widget/tools",
    headers: { ...widget(token), ...JSON_TYPE },
    body: { threadId: uid, webmcpTools: tools },
  };
}

const transport = { authorization: `Bearer ${TRANSPORT_KEY}`, ...JSON_TYPE };

/** `uid`: of the thread that user and name make. */
export function sayAsBot(
  { uid, userId, threadId }: { uid: string; userId: string; threadId: string },
  { text, id }: { text: string; id: string | null },
): SentRequest {
  return {
    about: { type: "say", uid, text, id },
    method: "POST",
    path: "/v1/messages",
    headers: { ...transport, ...(id === null ? {} : { "idempotency-key": id }) },
    body: { threadId, userId, text },
  };
}

interface BotThread {
  uid: string;
  userId: string;
  threadId: string;
}

export function instructAsBot(
  { uid, userId, threadId }: BotThread,
  { instruction, id }: { instruction: string; id: string },
): SentRequest {
  return {
    about: { type: "instruct", uid, instruction, id },
    method: "POST",
    path: `/v1/threads/${threadId}/say`,
    headers: { ...transport, "idempotency-key": id },
    body: { userId, instruction },
  };
}

export function approveAsBot(
  { uid, userId, threadId }: BotThread,
  { callId, approved }: { callId: string; approved: boolean },
): SentRequest {
  return {
    about: { type: "approve", uid, callId, approved },
    method: "POST",
    path: `/v1/threads/${threadId}/approvals`,
    headers: transport,
    body: { userId, callId, approved },
  };
}

export function cancelAsBot({ uid, ...bot }: { uid: string; userId: string; threadId: string }): SentRequest {
  const about: About = { type: "cancel", uid };
  return { about, method: "POST", path: "/v1/messages/cancel", headers: transport, body: bot };
}

export function identify(token: string, externalId: string): SentRequest {
  return {
    about: { type: "identify", token, externalId },
    method: "POST",
    path: "/v1/channels/shop/identify",
    headers: { authorization: `Bearer ${SECRET_KEY}`, ...JSON_TYPE },
    body: { visitorToken: token, externalUserId: externalId },
  };
}

export function askOnPage(token: string, uid: string): SentRequest {
  const path = `/v1/widget/threads/${uid}/handoff`;
  return { about: { type: "ask", uid }, method: "POST", path, headers: widget(token), body: null };
}

export function stopWaitingOnPage(token: string, uid: string): SentRequest {
  const path = `/v1/widget/threads/${uid}/handoff/cancel`;
  return { about: { type: "stop waiting", uid }, method: "POST", path, headers: widget(token), body: null };
}

export function askAsBot({
  uid,
  userId,
  threadId,
}: {
  uid: string;
  userId: string;
  threadId: string;
}): SentRequest {
  const path = `/v1/threads/${threadId}/handoff`;
  return { about: { type: "ask", uid }, method: "POST", path, headers: transport, body: { userId } };
}

/** A thread as operators name it. */
export interface OperatedThread {
  slug: string;
  uid: string;
}

const operated = ({ slug, uid }: OperatedThread, name: string, act: string) => ({
  method: "POST" as const,
  path: `/v1/operator/channels/${slug}/threads/${uid}/${act}`,
  headers: { authorization: `Bearer ${operatorKey(name)}`, ...JSON_TYPE },
});

export function take(thread: OperatedThread, name: string, epoch: number): SentRequest {
  const about: About = { type: "take", uid: thread.uid, name, epoch };
  return { about, ...operated(thread, name, "take"), body: { epoch } };
}

/** The text is its own clientMessageId. */
export function writeAsPerson(
  thread: OperatedThread,
  said: { name: string; epoch: number; text: string },
): SentRequest {
  const { name, epoch, text } = said;
  const about: About = { type: "write", uid: thread.uid, name, epoch, text };
  return { about, ...operated(thread, name, "messages"), body: { epoch, text, clientMessageId: text } };
}

export function giveBack(
  thread: OperatedThread,
  { name, epoch, how }: { name: string; epoch: number; how: "return" | "close" },
): SentRequest {
  const about: About = { type: "give back", uid: thread.uid, name, epoch };
  return { about, ...operated(thread, name, how), body: { epoch } };
}

export function deleteOnPage(token: string, uid: string): SentRequest {
  const path = `/v1/widget/threads/${uid}/delete`;
  return { about: { type: "delete", uid }, method: "POST", path, headers: widget(token), body: null };
}

const keeper = { authorization: `Bearer ${operatorKey(KEEPER.name)}` };

export function deleteAsOperator({ slug, uid }: OperatedThread): SentRequest {
  const path = `/v1/operator/channels/${slug}/threads/${uid}`;
  return { about: { type: "delete", uid }, method: "DELETE", path, headers: keeper, body: null };
}

export function deleteUser(externalId: string, userId: string): SentRequest {
  const path = `/v1/operator/channels/shop/users/${userId}`;
  const about: About = { type: "delete user", userId, externalId };
  return { about, method: "DELETE", path, headers: keeper, body: null };
}

/** As a listener hands it to the service. */
export function arriving({ method, path, query = "", headers, body }: SentRequest): HttpRequest {
  const bytes = Buffer.from(body === null ? "" : JSON.stringify(body));
  return {
    method,
    path,
    query,
    headers: new Map(Object.entries(headers)),
    address: "203.0.113.7",
    contentLength: bytes.length,
    body: async () => bytes,
  };
}
