import { gunzipSync } from "node:zlib";
import { openConnection, post } from "./connection.ts";
import type { IsFirst } from "./connection.ts";
import type { Asking } from "./load.ts";

/** The ways to ask: the service's two APIs, and the model itself. */
export const TRANSPORT_KEY = "bench-transport-key";
export const PUBLISHABLE_KEY = "pk_bench";
export const SECRET_KEY = "sk_bench";
export const ORIGIN = "https://bench.example";
export const SLUG = "bench";

/** Messages in a thread, before the user begins another. */
const PER_THREAD = 10;

/** The header, and the empty block that is flushed with it, are shorter. */
const GZIP_PREAMBLE_BYTES = 24;

const hasDelta: IsFirst = (part) => part.includes('"delta"');
const isPastPreamble: IsFirst = (part, before) => before + part.length > GZIP_PREAMBLE_BYTES;

interface ReadLine {
  type: string;
  text?: string;
}

function textOfLines(text: string): string {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ReadLine);
  if (lines.at(-1)?.type !== "done") return "";
  return lines.map(({ text: said = "" }) => said).join("");
}

function reading(gzip: boolean): {
  headers: Record<string, string>;
  isFirst: IsFirst;
  textOf: Asking["textOf"];
} {
  return gzip
    ? {
        headers: { "accept-encoding": "gzip" },
        isFirst: isPastPreamble,
        textOf: (body) => textOfLines(gunzipSync(body).toString()),
      }
    : { headers: {}, isFirst: hasDelta, textOf: (body) => textOfLines(body.toString()) };
}

let runs = 0;

/** The user and thread of a message. */
export interface Talker {
  userId: string;
  threadId: string;
}

/** POST /v1/messages; each user is a new one, and begins a new thread every ten messages, unless `talker` says otherwise. */
export function askServerApi(port: number, gzip = false, talker?: (user: number) => Talker): Asking {
  const run = runs++;
  const { headers, isFirst, textOf } = reading(gzip);
  const withKey = { ...headers, authorization: `Bearer ${TRANSPORT_KEY}` };
  return {
    port,
    textOf,
    request(user, nth, text) {
      const { userId, threadId } = talker?.(user) ?? {
        userId: `user-${run}-${user}`,
        threadId: `thread-${Math.floor(nth / PER_THREAD)}`,
      };
      const body = { channel: SLUG, userId, threadId, text };
      return { isFirst, bytes: post({ port, path: "/v1/messages", headers: withKey, body }) };
    },
  };
}

/** A visitor with threads to talk in. */
export interface Visitor {
  token: string;
  threadIds: string[];
}

/** POST /v1/widget/messages; a visitor who has used up all threads stays in the last one. */
export function askWidgetApi(port: number, visitors: readonly Visitor[], gzip = false): Asking {
  const { headers, isFirst, textOf } = reading(gzip);
  return {
    port,
    textOf,
    request(user, nth, text) {
      const { token = "", threadIds = [] } = visitors[user] ?? {};
      const threadId = threadIds[Math.min(Math.floor(nth / PER_THREAD), threadIds.length - 1)] ?? "";
      const all = { ...headers, origin: ORIGIN, "x-visitor-token": token };
      return {
        isFirst,
        bytes: post({ port, path: "/v1/widget/messages", headers: all, body: { threadId, text } }),
      };
    },
  };
}

/** Creates visitors, each with threads for that many messages. */
export async function makeVisitors(port: number, count: number, messagesEach: number): Promise<Visitor[]> {
  const visitors: Visitor[] = [];
  while (visitors.length < count) {
    const group = Array.from({ length: Math.min(MADE_AT_ONCE, count - visitors.length) }, () =>
      makeVisitor(port, Math.ceil(messagesEach / PER_THREAD)),
    );
    visitors.push(...(await Promise.all(group)));
  }
  return visitors;
}

const MADE_AT_ONCE = 32;

async function makeVisitor(port: number, threads: number): Promise<Visitor> {
  const connection = openConnection(port);
  const say = async (path: string, credential: Record<string, string>) => {
    const bytes = post({ port, path, headers: { origin: ORIGIN, ...credential }, body: undefined });
    const { status, body } = await connection.ask({ bytes, isFirst: () => false });
    if (status !== 201) throw new Error(`Cannot prepare visitors: ${path} answers ${status}`);
    return JSON.parse(body.toString()) as { visitorToken: string; threadId: string };
  };
  const { visitorToken: token } = await say("/v1/widget/visitors", { "x-publishable-key": PUBLISHABLE_KEY });
  const threadIds: string[] = [];
  for (let t = 0; t < threads; t++) {
    threadIds.push((await say("/v1/widget/threads", { "x-visitor-token": token })).threadId);
  }
  connection.close();
  return { token, threadIds };
}

/** The model itself, without a server in between, for comparison. */
export function askModel(port: number): Asking {
  return {
    port,
    request: (_user, _nth, text) => ({
      isFirst: (part) => part.includes('"content"'),
      bytes: post({
        port,
        path: "/v1/chat/completions",
        headers: {},
        body: { model: "bench", stream: true, messages: [{ role: "user", content: text }] },
      }),
    }),
    textOf: (body) =>
      [...body.toString().matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text ?? "").join(""),
  };
}
