import { readJsonLines } from "../../client/core/json-lines.ts";
import { isRefusal } from "../../client/core/refusals.ts";
import { spread } from "../../client/core/spread.ts";
import type { Api, Query } from "./api.ts";
import { Problem } from "./problem.ts";

/** What keeps a feed open: where it is, from where it goes on, and who is told. */
export interface Live<Line> {
  path: string;
  /** Asked anew with each connection. */
  query: () => Query;
  onLine: (line: Line) => void;
  /** A connection is there, or gone. */
  onConnected: (isConnected: boolean) => void;
  signal: AbortSignal;
}

const SHORTEST_MS = 500;
const LONGEST_MS = 15_000;

/**
 * Keeps a feed open until the signal ends it; a broken connection is made anew, later each time. Rejects where coming
 * back is of no use: the service refuses it.
 */
export async function keepOpen<Line>(api: Api, live: Live<Line>): Promise<void> {
  const { path, query, onLine, onConnected, signal } = live;
  let waitMs = SHORTEST_MS;
  while (!signal.aborted) {
    try {
      const body = await api.open(path, query(), signal);
      onConnected(true);
      waitMs = SHORTEST_MS;
      // A cast: the service's lines are what the types say.
      for await (const line of readJsonLines(body.getReader())) onLine(line as Line);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && isRefusal(error.status)) throw error;
    }
    if (signal.aborted) return;
    onConnected(false);
    await pause(spread(waitMs), signal);
    waitMs = Math.min(waitMs * 2, LONGEST_MS);
  }
}

/** Shorter where the browser comes back online, or the signal ends it. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    addEventListener("online", done);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      removeEventListener("online", done);
      resolve();
    }
  });
}
