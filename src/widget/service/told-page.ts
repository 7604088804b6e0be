/** The service accepts no longer page. */
export const MAX_PAGE_CHARS = 512;

/** Replaces a secret value. */
const HIDDEN = "…";

/** Anywhere in a name: `resetToken`, `clientSecret`, `password`, `PHPSESSID`. */
const SECRET_PART = /token|secret|passw|passphrase|sess(ion|id)|credential|signature|apikey|auth(?!or)/i;
/** As whole words: `key`, `api_key`, `code`, but not `keyword` or `postcode`. */
const SECRET_WORDS = new Set(["key", "code", "sig", "pwd", "pin", "otp", "jwt", "sid", "state", "nonce"]);

/**
 * The page as it is sent to the service: pathname and search. `params`: the names, separated by commas, of the parameters
 * that are sent; null: all, with the values of names that look like secrets replaced.
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
