import { setTimeout as pause } from "node:timers/promises";
import { StoreUnavailable } from "../../../src/store.ts";
import type { CommitResult, Store, ThreadCommit } from "../../../src/store.ts";
import { aroundStore } from "./around-store.ts";
import { randomFrom } from "../random.ts";

/** A store whose calls go wrong now and then, in every way that the store's contract allows. */
export interface FlakyStore {
  store: Store;
  /** From now on this share of the calls goes wrong; 0: none. */
  setRate(rate: number): void;
  /** Faults so far, by kind. */
  faults: Record<Fault, number>;
}

/**
 * `unavailable`: nothing happened. `unheard`: it happened, and its answer was lost. `slow`: it comes late. `changed`, a
 * claim alone: somebody was faster. `fenced`, a commit of a thread that is held alone: somebody took it.
 */
type Fault = "unavailable" | "unheard" | "slow" | "changed" | "fenced";

const CALLS = [
  "channels",
  "channel",
  "blockedIps",
  "changeCount",
  "mintVisitor",
  "admitVisitor",
  "admitUser",
  "addThread",
  "spendTokens",
  "spentTokens",
  "readIdentity",
  "promote",
  "merge",
  "load",
  "commit",
  "keepPart",
  "keepImages",
  "keptImages",
  "dropImages",
  "rate",
  "wait",
  "setCatalog",
  "history",
  "runs",
  "beat",
  "heldBy",
  "due",
] as const satisfies readonly (keyof Store)[];

/** Faultless at first. */
export function makeFlaky(store: Store, seed: number): FlakyStore {
  const random = randomFrom(seed);
  const faults: FlakyStore["faults"] = { unavailable: 0, unheard: 0, slow: 0, changed: 0, fenced: 0 };
  let rate = 0;

  const chosen = (name: keyof Store, args: unknown[]): Fault | null => {
    if (random() >= rate) return null;
    const possible: Fault[] = ["unavailable", "unheard", "slow"];
    if (name === "commit") possible.push((args[0] as ThreadCommit).claims ? "changed" : "fenced");
    const fault = possible[Math.floor(random() * possible.length)] ?? "slow";
    faults[fault] += 1;
    return fault;
  };

  return {
    faults,
    setRate(share) {
      rate = share;
    },
    store: aroundStore(store, CALLS, async (name, call, args) => {
      const fault = chosen(name, args);
      switch (fault) {
        case null:
          return call();
        case "unavailable":
          throw new StoreUnavailable(name);
        case "unheard":
          await call();
          throw new StoreUnavailable(name);
        case "slow":
          await pause(50 * random());
          return call();
        case "changed":
        case "fenced":
          return { type: fault } satisfies CommitResult;
      }
    }),
  };
}
