import { forgetDrafts } from "../conversation/drafts.ts";

/**
 * An operator's key: it comes in a link's fragment, which browsers never send, or from a sign-in. It is removed from the
 * address at once, stored for this tab only, and sent in a header.
 */
const NAME = "operator-key";
/** Set if a sign-in created the key; signing out then ends it in the service too. */
const SIGNED_IN = "operator-signed-in";

export interface TakenKey {
  /** null if this tab has followed no link, sent no form, and nobody has signed in. */
  key: string | null;
  /** Another key, of a link: it does not replace the tab's own until the operator says so. */
  offered: string | null;
}

/** Takes a key out of the address, and leaves `address` there. */
export function takeKey(address = location.pathname + location.search): TakenKey {
  const given = new URLSearchParams(location.hash.slice(1)).get("key");
  const key = sessionStorage.getItem(NAME);
  if (given === null) return { key, offered: null };
  history.replaceState(null, "", address);
  if (key !== null) return { key, offered: given === key ? null : given };
  keepKey(given);
  return { key: given, offered: null };
}

export function keepKey(key: string, how: "given" | "signed in" = "given"): void {
  sessionStorage.setItem(NAME, key);
  if (how === "signed in") sessionStorage.setItem(SIGNED_IN, "yes");
  else sessionStorage.removeItem(SIGNED_IN);
}

export function isSignedIn(): boolean {
  return sessionStorage.getItem(SIGNED_IN) !== null;
}

/** And what was written with it. */
export function forgetKey(): void {
  sessionStorage.removeItem(NAME);
  sessionStorage.removeItem(SIGNED_IN);
  forgetDrafts();
}
