import type { Slow } from "../rig/all-at-once.ts";
import type { Measured } from "../rig/load.ts";
import { quantile } from "../rig/numbers.ts";
import type { Entrant, Results } from "./field.ts";

/** The load that every participant gets. */
export interface Cell {
  name: string;
  users: number;
  /** Between two chunks of the model; 0: all in one write. */
  everyMs: number;
}

export const BURST: Cell = { name: "64 users, burst", users: 64, everyMs: 0 };
const spacedUsers = Number(process.env["BENCH_SPACED_USERS"] ?? 256);
export const SPACED: Cell = { name: `${spacedUsers} users, 20 ms`, users: spacedUsers, everyMs: 20 };
/** All begun at one moment. */
export const SLOW: Cell = { name: "500 slow streams, 200 ms", users: 500, everyMs: 200 };

export interface Outcome {
  /** The model, called without a server in between. */
  itself: Entrant;
  service: Entrant;
  /** The service, and its peers. */
  field: readonly Entrant[];
  burst: Results<Measured>;
  spaced: Results<Measured>;
  slow: Results<Slow>;
  idleMb: ReadonlyMap<Entrant, number>;
  afterMb: ReadonlyMap<Entrant, number>;
}

/** The times of first texts and whole replies. */
export type Timed = Pick<Measured, "firstMs" | "totalMs">;

/** By how much the first text comes later than the model's own, repeat by repeat. */
export function overOwn(measured: readonly Timed[], own: readonly Timed[]): number[] {
  const p50 = (one: Timed | undefined) => quantile(one?.firstMs ?? [], 0.5);
  return measured.map((one, i) => p50(one) - p50(own[i]));
}
