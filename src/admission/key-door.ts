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
 * Checks keys, and counts wrong ones by the client's address: after WRONG_KEYS in a minute, a wrong key from that address is
 * 429 until the minute ends. The right key opens always, or a stranger behind the same proxy could lock everybody out.
 * Each process counts for itself, as it does for rates.
 */
export interface KeyDoor {
  /**
   * Whose key the request carries. Throws Refusal("unauthorized") if it is nobody's; Refusal("rate-limited") after too many
   * of those. `wants`: what kind of key opens, in words for whoever has another one.
   */
  holder<Holder>(request: KeyHead, holderOf: (key: string) => Holder | null, wants: string): Holder;
  /** As `holder`, of a key that anybody may hold. */
  mustHold(request: KeyHead, isKey: IsKey, wants: string): void;
  /** Does it carry the key? */
  holds(request: KeyHead, isKey: IsKey): boolean;
}

type KeyHead = Pick<RequestHead, "headers" | "address">;

export const WRONG_KEYS = 100;
const MINUTE_MS = 60_000;

export const TRANSPORT_KEY = "the transport key (HARNESS_API_KEY)";

export function createKeyDoor({
  config,
  clock,
  log,
}: {
  config: AddressSource;
  clock: Pick<Clock, "now">;
  log: Pick<PlainLog, "warn">;
}): KeyDoor {
  const addressOf = addressReader(config, log);
  const wrong = openWindow(WRONG_KEYS, MINUTE_MS);

  /** A wrong key is counted; past the limit it is refused without a further look until the minute ends. */
  function refusalOf(request: KeyHead, isKey: IsKey, wants: string): Refusal | null {
    const key = bearerFrom(request.headers.get("authorization"));
    // Without a key there is nothing to guess with.
    if (key === null) return new Refusal("unauthorized", wants);
    if (isKey(key)) return null;
    const address = countedAs(addressOf(request));
    const waitSeconds = wrong.full(address, clock.now());
    if (waitSeconds !== null) return new Refusal("rate-limited", "", waitSeconds);
    wrong.count(address, clock.now());
    return new Refusal("unauthorized", wants);
  }

  return {
    holder(request, holderOf, wants) {
      let holder: ReturnType<typeof holderOf> = null;
      const refusal = refusalOf(request, (key) => (holder = holderOf(key)) !== null, wants);
      if (refusal !== null || holder === null) throw refusal ?? new Refusal("unauthorized", wants);
      return holder;
    },
    mustHold(request, isKey, wants) {
      const refusal = refusalOf(request, isKey, wants);
      if (refusal !== null) throw refusal;
    },
    holds: (request, isKey) => refusalOf(request, isKey, "") === null,
  };
}
