import { request } from "undici";
import { isTerminal } from "../../../machines/line.ts";
import type { Line } from "../../../machines/line.ts";
import { ORIGIN, PUBLISHABLE_KEY, SECRET_KEY, TRANSPORT_KEY, WEB } from "../fault-channels.ts";

/** What a client has heard of a request, whatever became of the server meanwhile. */
export interface Heard {
  /** null: no answer came. */
  status: number | null;
  /** The lines of a stream, as far as it came. */
  lines: Line[];
  /** What another answer holds, and its value where it is JSON. */
  text: string;
  value: Record<string, unknown>;
  /** When to ask again, as an answer says it. */
  retryAfter?: string;
}

export interface Asking {
  method?: "GET" | "POST" | "DELETE";
  headers?: Record<string, string>;
  body?: object;
  /** Called when the status has come: an accepted message is acknowledged then. */
  onStatus?: (status: number) => void;
  /** Called with each line. */
  onLine?: (line: Line) => void;
  /** How long to wait for the whole answer; none: for ever. */
  withinMs?: number;
}

/** One request, read as far as it goes. Never rejects: a torn connection is an answer too. */
export async function ask(url: string, path: string, asking: Asking = {}): Promise<Heard> {
  const { method = "POST", body, onStatus, onLine, withinMs } = asking;
  const heard: Heard = { status: null, lines: [], text: "", value: {} };
  try {
    const response = await request(url + path, {
      method,
      headers: { ...asking.headers, ...(body ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(withinMs === undefined ? {} : { signal: AbortSignal.timeout(withinMs) }),
    });
    heard.status = response.statusCode;
    const retryAfter = response.headers["retry-after"];
    if (typeof retryAfter === "string") heard.retryAfter = retryAfter;
    onStatus?.(response.statusCode);
    if (String(response.headers["content-type"]).includes("ndjson")) {
      for await (const line of linesOf(response.body)) {
        heard.lines.push(line);
        onLine?.(line);
      }
    } else {
      heard.text = await response.body.text();
      if (heard.text.startsWith("{")) heard.value = JSON.parse(heard.text) as Record<string, unknown>;
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw error;
  }
  return heard;
}

/** Only whole lines: what a cut leaves of the last one is nothing. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}

/** The stream's terminal line; undefined where it was cut before. */
export function terminalOf({ lines }: Heard): Line | undefined {
  return lines.find(isTerminal);
}

export function textOf({ lines }: Heard): string {
  return lines.map((line) => (line.type === "delta" ? line.text : "")).join("");
}

export const transportHeaders = { authorization: `Bearer ${TRANSPORT_KEY.reveal()}` };

export function visitorHeaders(token: string): Record<string, string> {
  return { origin: ORIGIN, "x-visitor-token": token };
}

export function createVisitor(url: string, publishableKey = PUBLISHABLE_KEY): Promise<Heard> {
  const headers = { origin: ORIGIN, "x-publishable-key": publishableKey };
  return ask(url, "/v1/widget/visitors", { headers });
}

export function createThread(url: string, token: string): Promise<Heard> {
  return ask(url, "/v1/widget/threads", { headers: visitorHeaders(token) });
}

export function identify(url: string, visitorToken: string, externalUserId: string): Promise<Heard> {
  return ask(url, `/v1/channels/${WEB}/identify`, {
    headers: { authorization: `Bearer ${SECRET_KEY.reveal()}` },
    body: { visitorToken, externalUserId },
  });
}
