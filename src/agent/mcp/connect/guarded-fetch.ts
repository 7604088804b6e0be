import { Agent, fetch as undiciFetch } from "undici";
import { AnswerTooLong, beginningOf, boundedBody } from "../../../bounded-body.ts";
import { messageOf } from "../../../errors.ts";
import { mustBePublic, publicLookup } from "../../../public-lookup.ts";
import type { Asking } from "./asking.ts";
import { Unusable } from "./unusable.ts";

/** Of an answer, or of one event of a stream. A screenshot fits; what is longer would stop the event loop while it is parsed. */
export const MOST_ANSWER_BYTES = 4 * 1_048_576;

/** Of an error's body: it comes into the log and no further. */
const MOST_FAULT_BYTES = 2_048;

/** What was read comes to its request within a few microtasks; then nothing more comes. */
const READ_MS = 100;

/** Longer than a call waits: a server that answers nothing must not keep its connections for good. */
const SILENCE_MS = 60_000;

export interface Guards {
  /** The server's own URL. */
  url: string;
  /** Where a token is fetched; null: nowhere. */
  issuer: string | null;
  /** True: addresses may be private. */
  allowsPrivate: boolean;
  /** How long a request may wait for its answer. */
  longestMs: number;
  /** Which request is being sent. */
  asking: () => Asking | null;
}

export interface GuardedFetch {
  fetch: typeof fetch;
  /** Closes its connections. */
  close(): Promise<void>;
}

/**
 * The fetch of one connection to an MCP server, which trusts the server in nothing:
 *
 * - it connects to public addresses alone, unless the settings may name private ones, and, before a token's issuer is
 *   known to be the right one, to the origins that the settings name;
 * - it reads no answer, and no event, beyond its bounds;
 * - it notices when the answer to a request can no longer come. The SDK leaves such a request pending until its time is
 *   over (typescript-sdk#2739).
 */
export function createGuardedFetch(guards: Guards): GuardedFetch {
  const { url, issuer, allowsPrivate, longestMs, asking } = guards;
  const silenceMs = longestMs + SILENCE_MS;
  const agent = new Agent({
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    connect: { lookup: publicLookup({ allowsPrivate }) },
  });
  const named = new Set([url, ...(issuer === null ? [] : [issuer])].map((one) => new URL(one).origin));

  async function send(address: string, init: RequestInit): Promise<Response> {
    const { origin } = new URL(address);
    const isPost = (init.method ?? "GET") === "POST";
    // Discovery goes where the server's answer says; a token is fetched only when the SDK has compared the issuer.
    if (!named.has(origin) && !isPost) {
      throw new Unusable(
        "it sends this service elsewhere than to its own origin and the issuer of its settings for signing in",
      );
    }
    if (!allowsPrivate) mustBePublic(address);
    const { method, body, redirect, signal } = init;
    const response = await undiciFetch(address, {
      ...(method === undefined ? {} : { method }),
      ...(typeof body === "string" || body instanceof URLSearchParams ? { body: String(body) } : {}),
      ...(redirect === undefined ? {} : { redirect }),
      ...(signal ? { signal } : {}),
      headers: [...new Headers(init.headers)],
      dispatcher: agent,
    });
    return response as unknown as Response;
  }

  /** Streams that the server may answer on at any time. */
  let listening = 0;

  return {
    async fetch(input, init = {}) {
      const address = String(input instanceof Request ? input.url : input);
      const isOwn = new URL(address).origin === new URL(url).origin;
      const asked = isOwn ? asking() : null;
      const resumes = asked !== null && new Headers(init.headers).has("last-event-id");
      try {
        const response = await send(address, init);
        if (resumes && !response.ok) {
          asked.lose(new Error(`The answer's stream cannot be resumed: status ${response.status}`));
        }
        const id = asked === null ? null : requestId(init);
        if (id !== null) asked?.unanswered.add(id);
        const listens = isOwn && response.ok && (init.method ?? "GET") === "GET";
        if (listens) listening += 1;
        // Some servers take a request with 202, and answer on the stream that is open anyway.
        const answersElsewhere = response.status === 202 && listening > 0;
        return await bounded(response, {
          asked,
          id: answersElsewhere ? null : id,
          onEnd: () => (listening -= listens ? 1 : 0),
        });
      } catch (error) {
        if (resumes) asked.lose(error instanceof Error ? error : new Error(messageOf(error)));
        throw error;
      }
    },
    close: () => agent.destroy(),
  };
}

/** The same answer with a bounded body. `id`: of the request that it answers; null: it answers none. */
async function bounded(
  response: Response,
  { asked, id, onEnd }: { asked: Asking | null; id: unknown; onEnd: () => void },
): Promise<Response> {
  const { status, statusText, headers, body } = response;
  const head = { status, statusText, headers: new Headers(headers) };
  if (!response.ok) {
    const text = await beginningOf(body, MOST_FAULT_BYTES);
    return new Response(HAS_NO_BODY.has(status) ? null : text, head);
  }
  if (body === null || HAS_NO_BODY.has(status) || status === 202) {
    void body?.cancel().catch(() => {});
    loseSoon(asked, id);
    return new Response(HAS_NO_BODY.has(status) ? null : "", head);
  }
  const isEvents = /^\s*text\/event-stream\b/i.test(headers.get("content-type") ?? "");
  let hasId = false;
  const guarded = boundedBody(body, {
    mostBytes: MOST_ANSWER_BYTES,
    isEvents,
    onEvent: (event) => (hasId ||= /^id:/m.test(Buffer.from(event).toString("latin1"))),
    onEnd: (error) => {
      onEnd();
      if (error instanceof AnswerTooLong) asked?.lose(error);
      // The SDK resumes a stream whose events have ids.
      else if (!hasId) loseSoon(asked, id);
    },
  });
  return new Response(guarded, head);
}

const HAS_NO_BODY = new Set([204, 205, 304]);

/** Unless the answer was among what has just been read. */
function loseSoon(asked: Asking | null, id: unknown): void {
  if (asked === null || id === null) return;
  setTimeout(() => {
    if (asked.unanswered.has(id)) asked.lose(new Error("The server ended its answer without the result"));
  }, READ_MS);
}

/** The id of a request in JSON-RPC; null: it is none, and has no answer, or it asks which revision is spoken: that may go unanswered. */
function requestId({ method, body }: RequestInit): unknown {
  if (method !== "POST" || typeof body !== "string" || !body.startsWith("{")) return null;
  const message: unknown = JSON.parse(body);
  const isRequest = typeof message === "object" && message !== null && "id" in message && "method" in message;
  return isRequest && message.method !== "server/discover" ? message.id : null;
}
