import type { Clock } from "../clock.ts";
import { Refusal } from "../domain/refusal.ts";
import type { PlainLog } from "../log.ts";
import type { RequestHead } from "./arrival.ts";
import { addressReader, countedAs } from "./client-address.ts";
import type { AddressSource } from "./client-address.ts";
import { bearerFrom } from "./keys.ts";
import type { IsKey } from "./keys.ts";
import { openWindow } from "./rate-windows.ts";

/**
 * Checks keys, and counts wrong ones by the client's address: after WRONG_KEYS in a minute, every key from that address is
 * refused until the minute ends, even the right one. Each process counts for itself, as it does for rates.
 */
export interface KeyDoor {
  /** Throws Refusal("unauthorized") unless the request carries the key; Refusal("rate-limited") after too many wrong ones. */
  mustHold(request: KeyHead, isKey: IsKey): void;
  /** Does it carry the key? Also false after too many wrong ones. */
  holds(request: KeyHead, isKey: IsKey): boolean;
}

type KeyHead = Pick<RequestHead, "headers" | "address">;

export const WRONG_KEYS = 100;
const MINUTE_MS = 60_000;

export function createKeyDoor({
  config,
  clock,
  log,
}: {
  config: AddressSource;
  clock: Clock;
  log: Pick<PlainLog, "warn">;
}): KeyDoor {
  const addressOf = addressReader(config, log);
  const wrong = openWindow(WRONG_KEYS, MINUTE_MS);

  /** null: the request has no key. */
  function shown(request: KeyHead, isKey: IsKey): "right" | "wrong" | { waitSeconds: number } | null {
    const key = bearerFrom(request.headers.get("authorization"));
    if (key === null) return null;
    const address = countedAs(addressOf(request));
    const waitSeconds = wrong.full(address, clock.now());
    if (waitSeconds !== null) return { waitSeconds };
    if (isKey(key)) return "right";
    wrong.count(address, clock.now());
    return "wrong";
  }

  return {
    mustHold(request, isKey) {
      const found = shown(request, isKey);
      if (found !== null && typeof found === "object")
        throw new Refusal("rate-limited", "", found.waitSeconds);
      if (found !== "right") throw new Refusal("unauthorized");
    },
    holds: (request, isKey) => shown(request, isKey) === "right",
  };
}
