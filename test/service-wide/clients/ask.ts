import { once } from "node:events";
import { Agent, request } from "node:http";
import type { IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import type { Line } from "../../../machines/line.ts";

/** One request as a client of its own, sent as it is written. */
export interface Asking {
  method?: string;
  path: string;
  /** A list: so many lines of that name. */
  headers?: Record<string, string | string[]>;
  body?: string | Uint8Array;
}

export interface Got {
  status: number;
  /** Without `date`, `connection` and `keep-alive`, which are the connection's own business. */
  headers: Record<string, string>;
  bytes: Buffer;
  text: string;
  json(): unknown;
  lines(): Line[];
}

/** The text that lines tell. */
export function spoken(lines: readonly Line[]): string {
  return lines.map((line) => (line.type === "delta" ? line.text : "")).join("");
}

const THE_CONNECTIONS: ReadonlySet<string> = new Set(["date", "connection", "keep-alive"]);
const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

/** The whole answer; with `isFeed`, up to its first line, and the client goes. */
export async function ask(url: string, asking: Asking, { isFeed = false } = {}): Promise<Got> {
  const answer = await open(url, asking);
  const pieces: Buffer[] = [];
  for await (const piece of answer) {
    pieces.push(piece as Buffer);
    if (isFeed && (piece as Buffer).includes("\n")) break;
  }
  const bytes = Buffer.concat(pieces);
  const text = (answer.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
  return {
    status: answer.statusCode ?? 0,
    headers: headersOf(answer),
    bytes,
    text,
    json: () => JSON.parse(text) as unknown,
    lines: () => linesOf(text),
  };
}

/** The answer's head; its body is still to come. Rejects where the connection closed without one. */
export async function open(url: string, asking: Asking): Promise<IncomingMessage> {
  const { hostname, port } = new URL(url);
  const { method = "GET", path, headers = {}, body } = asking;
  const asked = request({ hostname, port, method, path, headers, agent });
  asked.end(body);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return answer;
}

export function linesOf(text: string): Line[] {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Line);
}

function headersOf(answer: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(answer.headers)) {
    if (!THE_CONNECTIONS.has(name)) headers[name] = String(value);
  }
  return headers;
}
