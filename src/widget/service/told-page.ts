/** Longer than this the service does not take. */
export const MAX_PAGE_CHARS = 512;

/** What stands for a value that is nobody's business. */
const HIDDEN = "…";

/** Within a name: `resetToken`, `clientSecret`, `password`, `PHPSESSID`. */
const SECRET_PART = /token|secret|passw|passphrase|sess(ion|id)|credential|signature|apikey|auth(?!or)/i;
/** By themselves: `key`, `api_key`, `code`, but no `keyword` or `postcode`. */
const SECRET_WORDS = new Set(["key", "code", "sig", "pwd", "pin", "otp", "jwt", "sid", "state", "nonce"]);

/**
 * The page as the service is told of it: pathname and search. `params`: the names, separated by commas, of those that it
 * is told; null: all, but values whose names smell of a secret are left out.
 */
export function toldPage(
  { pathname, search }: { pathname: string; search: string },
  params: string | null,
): string {
  const allowed = params === null ? null : new Set(params.split(",").map((name) => name.trim()));
  const told = search
    .slice(1)
    .split("&")
    .flatMap((pair) => {
      const name = nameOf(pair);
      if (allowed === null) return [isSecret(name) ? `${pair.split("=", 1)[0]}=${HIDDEN}` : pair];
      return allowed.has(name) ? [pair] : [];
    })
    .filter((pair) => pair !== "");
  return (pathname + (told.length === 0 ? "" : `?${told.join("&")}`)).slice(0, MAX_PAGE_CHARS);
}

function nameOf(pair: string): string {
  return [...new URLSearchParams(pair).keys()][0] ?? "";
}

function isSecret(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return SECRET_PART.test(name) || words.some((word) => SECRET_WORDS.has(word));
}
