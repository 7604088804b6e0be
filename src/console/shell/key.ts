/**
 * An operator's key: a link brings it behind the `#`, which browsers send to nobody. It is taken out of the address at
 * once, kept for this tab alone, and sent in a header.
 */
const NAME = "operator-key";

/** Null where no link was followed in this tab, and no form was sent. */
export function takeKey(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  if (given !== null) {
    keepKey(given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(NAME);
}

export function keepKey(key: string): void {
  sessionStorage.setItem(NAME, key);
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
}
