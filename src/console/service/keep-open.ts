import { createBackoff, doubling } from "../../client/core/backoff.ts";
import { followFeed } from "../../client/core/follow-feed.ts";
import { pause as pauseFor } from "../../client/core/pause.ts";
import { isRefusal } from "../../client/core/refusals.ts";
import type { Api } from "./api.ts";
import { Problem } from "./problem.ts";

/** What keeps a feed open: where it is, from where it goes on, and who is told. */
export interface Live<Line> {
  path: string;
  /** Behind which line it begins; null: only what is new. */
  after: string | null;
  onLine: (line: Line) => void;
  /** A connection is there, or gone. */
  onConnected: (isConnected: boolean) => void;
  signal: AbortSignal;
}

const PAUSES_MS = doubling(500, 15_000);

/**
 * Keeps a feed open until the signal ends it; a broken connection is made anew, later each time. Rejects where coming
 * back is of no use: the service refuses it.
 */
export async function keepOpen<Line>(api: Api, live: Live<Line>): Promise<void> {
  const { path, after, onLine, onConnected, signal } = live;
  const { reset, next } = createBackoff(PAUSES_MS);
  const lines = followFeed({
    after,
    async open(place) {
      const body = await api.open(path, { after: place }, signal);
      onConnected(true);
      reset();
      return body;
    },
    async comeBack(fault) {
      if (signal.aborted || (fault instanceof Problem && isRefusal(fault.status))) throw fault;
      onConnected(false);
      await pause(next() ?? 0, signal);
      if (signal.aborted) throw fault;
    },
  });
  try {
    // A cast: the service's lines are what the types say.
    for await (const line of lines) onLine(line as Line);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Shorter where the browser comes back online, or the signal ends it. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const sooner = new AbortController();
  const end = () => sooner.abort();
  signal.addEventListener("abort", end, { signal: sooner.signal });
  addEventListener("online", end, { signal: sooner.signal });
  await pauseFor(ms, sooner.signal);
  end();
}
