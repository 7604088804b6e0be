import { isTerminal } from "../../machines/line.ts";
import type { Line, TerminalLine } from "../../machines/line.ts";

/** One answer of the service, read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Of a stream; checked to end in its one terminal line. */
  lines: Line[];
}

export interface Sent {
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: unknown;
  /** The status has come: what was sent is stored, or refused. */
  onStatus?: () => void;
}

/** One request by fetch, as a page or a backend sends it. */
export async function ask(url: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { method = "POST", body } = sent;
  const response = await fetch(url + path, {
    method,
    headers: { ...sent.headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  sent.onStatus?.();
  const text = await response.text();
  const isStream = response.headers.get("content-type") === "application/x-ndjson";
  return {
    status: response.status,
    headers: response.headers,
    text,
    lines: isStream ? linesOf(text) : [],
  };
}

/** The JSON object of an answer, whose fields the caller names. */
export function objectOf<Fields>(answer: Answer): Fields {
  return JSON.parse(answer.text) as Fields;
}

/** P3, P4: whole lines, and exactly one terminal line, the last. */
function linesOf(text: string): Line[] {
  if (!text.endsWith("\n"))
    throw new Error(`Cannot read a stream: its last line is cut: ${text.slice(-200)}`);
  const lines = text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  if (lines.findIndex(isTerminal) !== lines.length - 1) {
    throw new Error(`Cannot read a stream: its terminal line is not its last, or not its only one: ${text}`);
  }
  return lines;
}

export function terminalOf({ lines }: Answer): TerminalLine {
  const last = lines.at(-1);
  if (last === undefined || !isTerminal(last)) throw new Error("Cannot find a terminal line: no stream came");
  return last;
}

export function textOf({ lines }: Answer): string {
  return lines.map((line) => (line.type === "delta" ? line.text : "")).join("");
}
