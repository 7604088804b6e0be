import type { Clock } from "../clock.ts";
import type { Limits } from "../config.ts";
import { createSketch } from "./sketch.ts";
import type { Sketch } from "./sketch.ts";

/**
 * Rate limits: fixed windows aligned to the clock, in this process's memory (the spec, Limits). Exact up to
 * EXACT_KEYS keys per window; later keys share a sketch of fixed size, which never counts too low (P18, P21).
 */
export type RateWindowName =
  | "messages-by-token"
  | "messages-by-address"
  | "tool-results-by-token"
  | "tool-results-by-address"
  | "files-by-token"
  | "files-by-address"
  | "ratings-by-token"
  | "ratings-by-address"
  | "threads-by-token"
  | "visitors-by-address"
  | "reads-by-token"
  | "reads-by-address"
  // An IPv6 /48, all of which may belong to one client.
  | "messages-by-network"
  | "tool-results-by-network"
  | "files-by-network"
  | "ratings-by-network"
  | "visitors-by-network"
  | "reads-by-network";

export interface RateUse {
  window: RateWindowName;
  key: string;
}

export interface RateWindows {
  /**
   * Counts one use in each window, and returns null. If a window is full, counts nothing, and returns the whole seconds until
   * the last full window ends.
   */
  take(uses: readonly RateUse[]): number | null;
}

/** A key costs about 100 bytes: a full window about 100 MB. */
export const EXACT_KEYS = 1_000_000;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export function createRateWindows(options: {
  limits: Limits;
  clock: Clock;
  exactKeys?: number;
}): RateWindows {
  const { limits, clock, exactKeys = EXACT_KEYS } = options;
  const windows: Record<RateWindowName, WindowState> = {
    "messages-by-token": stateOf(limits.messagesPerMinute, MINUTE_MS),
    "messages-by-address": stateOf(limits.ipMessagesPerMinute, MINUTE_MS),
    "tool-results-by-token": stateOf(limits.toolResultsPerMinute, MINUTE_MS),
    "tool-results-by-address": stateOf(limits.ipToolResultsPerMinute, MINUTE_MS),
    "files-by-token": stateOf(limits.filesPerHour, HOUR_MS),
    "files-by-address": stateOf(limits.ipFilesPerHour, HOUR_MS),
    "ratings-by-token": stateOf(limits.ratingsPerMinute, MINUTE_MS),
    "ratings-by-address": stateOf(limits.ipRatingsPerMinute, MINUTE_MS),
    "threads-by-token": stateOf(limits.threadsPerHour, HOUR_MS),
    "visitors-by-address": stateOf(limits.visitorsPerHourPerIp, HOUR_MS),
    "reads-by-token": stateOf(limits.readsPerMinute, MINUTE_MS),
    "reads-by-address": stateOf(limits.ipReadsPerMinute, MINUTE_MS),
    "messages-by-network": stateOf(limits.ipMessagesPerMinute * limits.networkFactor, MINUTE_MS),
    "tool-results-by-network": stateOf(limits.ipToolResultsPerMinute * limits.networkFactor, MINUTE_MS),
    "files-by-network": stateOf(limits.ipFilesPerHour * limits.networkFactor, HOUR_MS),
    "ratings-by-network": stateOf(limits.ipRatingsPerMinute * limits.networkFactor, MINUTE_MS),
    "visitors-by-network": stateOf(limits.visitorsPerHourPerIp * limits.networkFactor, HOUR_MS),
    "reads-by-network": stateOf(limits.ipReadsPerMinute * limits.networkFactor, MINUTE_MS),
  };

  return {
    take(uses) {
      const now = clock.now();
      const counted = uses.map(({ window, key }) => ({ window: current(windows[window], now), key }));
      const full = counted.filter(({ window, key }) => countOf(window, key) >= window.limit);
      if (full.length > 0) return Math.max(...full.map(({ window }) => secondsLeft(window, now)));
      for (const { window, key } of counted) count(window, key, exactKeys);
      return null;
    },
  };
}

/** A single window; `count` is called separately, after a look at it. */
export interface OpenWindow {
  /** Whole seconds until it ends, if the key has used it up; else null. */
  full(key: string, nowMs: number): number | null;
  count(key: string, nowMs: number): void;
}

export function openWindow(limit: number, lengthMs: number): OpenWindow {
  const window = stateOf(limit, lengthMs);
  return {
    full(key, nowMs) {
      const now = current(window, nowMs);
      return countOf(now, key) >= limit ? secondsLeft(now, nowMs) : null;
    },
    count: (key, nowMs) => count(current(window, nowMs), key, EXACT_KEYS),
  };
}

interface WindowState {
  readonly limit: number;
  readonly lengthMs: number;
  /** The window's number: Unix time divided by its length. */
  index: number;
  counts: Map<string, number>;
  /** Counts the keys after the first EXACT_KEYS; null while there are none. */
  overflow: Sketch | null;
}

function stateOf(limit: number, lengthMs: number): WindowState {
  return { limit, lengthMs, index: -1, counts: new Map(), overflow: null };
}

/** The present window; empty if a new one has begun, or the clock was set back. */
function current(window: WindowState, nowMs: number): WindowState {
  const index = Math.floor(nowMs / window.lengthMs);
  if (index !== window.index) {
    window.index = index;
    window.counts = new Map();
    window.overflow = null;
  }
  return window;
}

function countOf(window: WindowState, key: string): number {
  return window.counts.get(key) ?? window.overflow?.estimate(key) ?? 0;
}

function count(window: WindowState, key: string, exactKeys: number): void {
  const known = window.counts.get(key);
  if (known !== undefined || window.counts.size < exactKeys) {
    window.counts.set(key, (known ?? 0) + 1);
    return;
  }
  window.overflow ??= createSketch();
  window.overflow.add(key);
}

function secondsLeft(window: WindowState, nowMs: number): number {
  return Math.max(1, Math.ceil(((window.index + 1) * window.lengthMs - nowMs) / 1000));
}
