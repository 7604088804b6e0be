import { Agent, request } from "undici";
import type { Clock } from "../clock.ts";
import { codeOf, messageOf } from "../errors.ts";
import { mustBePublic, NOT_PUBLIC, publicLookup } from "../public-lookup.ts";
import type { Lookup } from "../public-lookup.ts";
import type { Secret } from "../secret.ts";
import { VERSION } from "../version.ts";
import { signedHeaders } from "./sign.ts";

/** A receiver's answer. `status` null: there was none, and `fault` says why. */
export interface Sent {
  status: number | null;
  fault: string | null;
  elapsedMs: number;
}

export interface Sender {
  send(event: { url: string; id: string; body: string; secrets: readonly Secret[] }): Promise<Sent>;
  close(): Promise<void>;
}

/** From the first byte of the request to the end of the answer's head. */
export const ANSWER_MS = 15_000;
/** How much of an answer's body is read, and for how long, so that its connection can be used again. */
const ANSWER_BYTES = 16_384;
const ANSWER_BODY_MS = 1_000;
/** Each carries one request: at most this many wait for one receiver. */
const CONNECTIONS = 64;

/**
 * Posts events. The connection itself looks up the name, and goes to an address that was checked: so the name cannot
 * change between check and use. Redirects are not followed.
 */
export function createSender({
  clock,
  allowsPrivate,
  answerMs = ANSWER_MS,
  lookup,
}: {
  clock: Clock;
  /** WEBHOOKS_PRIVATE */
  allowsPrivate: boolean;
  answerMs?: number;
  lookup?: Lookup;
}): Sender {
  const agent = new Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    connect: {
      timeout: answerMs,
      lookup: publicLookup({ allowsPrivate, ...(lookup ? { lookup } : {}) }),
    },
  });

  async function post({ url, id, body, secrets }: Parameters<Sender["send"]>[0]): Promise<number> {
    if (!allowsPrivate) mustBePublic(url);
    const signal = AbortSignal.timeout(answerMs);
    const headers = {
      ...signedHeaders({ id, body, atMs: clock.now() }, secrets),
      "user-agent": `chat-agent-service/${VERSION}`,
    };
    const { statusCode, body: answer } = await request(url, {
      method: "POST",
      headers,
      body,
      dispatcher: agent,
      headersTimeout: answerMs,
      signal,
    });
    // The rest is ignored and not awaited. A body that never ends must not block the connections of later events.
    answer.dump({ limit: ANSWER_BYTES, signal: AbortSignal.timeout(ANSWER_BODY_MS) }).catch(() => {});
    return statusCode;
  }

  return {
    async send(event) {
      const sinceMs = clock.elapsed();
      const elapsed = () => Math.round(clock.elapsed() - sinceMs);
      try {
        const status = await post(event);
        return { status, fault: faultOfStatus(status), elapsedMs: elapsed() };
      } catch (error) {
        return { status: null, fault: faultOf(error), elapsedMs: elapsed() };
      }
    },
    close: () => agent.destroy(),
  };
}

function faultOfStatus(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? "it redirects" : `it answered ${status}`;
}

/** Without the url, which may contain a secret. */
function faultOf(error: unknown): string {
  if (error instanceof Error && error.message === NOT_PUBLIC) return NOT_PUBLIC;
  if (error instanceof Error && /timeout|aborted/i.test(`${error.name} ${error.message}`)) {
    return "it did not answer in time";
  }
  return `it cannot be reached (${codeOf(error) ?? messageOf(error)})`;
}
