/**
 * An operator's key: a link brings it behind the `#`, which browsers send to nobody, or a sign-in makes it. It is taken out
 * of the address at once, kept for this tab alone, and sent in a header.
 */
const NAME = "operator-key";
/** There where a sign-in made the key, which ends with it. */
const SIGNED_IN = "operator-signed-in";

/** Null where no link was followed in this tab, no form was sent, and nobody signed in. */
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
