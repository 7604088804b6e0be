/**
 * The inspector's key: a link has it after the `#`, which browsers send to no server. It is removed from the address at
 * once, stored for this tab only, and sent in a header.
 */
const NAME = "inspector-key";

/** null if no link was followed in this tab. */
export function takeKey(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  if (given !== null) {
    sessionStorage.setItem(NAME, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(NAME);
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
}
