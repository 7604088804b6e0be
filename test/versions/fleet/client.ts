import type { Line } from "../../../machines/line.ts";

/** A stream as its client reads it. */
export interface ReadStream {
  status: number;
  /** What has come so far. */
  lines(): Line[];
  /** Resolves when what has come meets the condition; rejects where the stream ends before. */
  until(meets: (lines: Line[]) => boolean): Promise<void>;
  /** Every line, when the stream has ended. */
  end(): Promise<Line[]>;
}

/** One request; resolves with the status. */
export async function openStream(
  url: string,
  {
    method = "POST",
    headers,
    body,
  }: { method?: "GET" | "POST"; headers: Record<string, string>; body?: unknown },
): Promise<ReadStream> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const lines: Line[] = [];
  const watchers = new Set<() => void>();
  const ended = readLines(response, (line) => {
    lines.push(line);
    for (const watcher of watchers) watcher();
  });
  // Who only waits for a part of it does not look at its end.
  ended.catch(() => {});
  return {
    status: response.status,
    lines: () => lines,
    until: (meets) =>
      Promise.race([
        new Promise<void>((resolve) => {
          const look = () => {
            if (meets(lines)) resolve();
          };
          watchers.add(look);
          look();
        }),
        ended.then(() => {
          if (!meets(lines)) throw new Error(`Cannot wait any longer: the stream ended: ${tail(lines)}`);
        }),
      ]),
    end: () => ended.then(() => lines),
  };
}

async function readLines(response: Response, take: (line: Line) => void): Promise<void> {
  if (response.body === null) return;
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + text).split("\n");
    rest = whole.pop() ?? "";
    if (response.status !== 200) continue;
    for (const line of whole) take(JSON.parse(line) as Line);
  }
}

function tail(lines: Line[]): string {
  return JSON.stringify(lines.slice(-3));
}

export function textOf(lines: readonly Line[]): string {
  return lines.map((line) => (line.type === "delta" ? line.text : "")).join("");
}
