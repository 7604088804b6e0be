/**
 * An operator's key: it comes in a link's fragment, which browsers never send, or from a sign-in. It is removed from the
 * address at once, stored for this tab only, and sent in a header.
 */
const NAME = "operator-key";
/** Set if a sign-in created the key; signing out then ends it in the service too. */
const SIGNED_IN = "operator-signed-in";

/** null if this tab has followed no link, sent no form, and nobody has signed in. */
export function takeKey(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  if (given !== null) {
    keepKey(given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(NAME);
}

export function keepKey(key: string, how: "given" | "signed in" = "given"): void {
  sessionStorage.setItem(NAME, key);
  if (how === "signed in") sessionStorage.setItem(SIGNED_IN, "yes");
  else sessionStorage.removeItem(SIGNED_IN);
}

export function isSignedIn(): boolean {
  return sessionStorage.getItem(SIGNED_IN) !== null;
}

export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
  sessionStorage.removeItem(SIGNED_IN);
}
