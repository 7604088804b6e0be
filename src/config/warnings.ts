import { SETTINGS } from "../config.ts";
import type { Config } from "../config.ts";
import { nearestName } from "../domain/nearest-name.ts";
import { isLoopback } from "./kinds.ts";

/** Shorter keys can be guessed, or were thought up by somebody. */
const SHORTEST_KEY = 24;

export function keyWarningsOf({ harnessApiKey, olderApiKeys }: Config): string[] {
  const keys = [...(harnessApiKey === null ? [] : [harnessApiKey]), ...olderApiKeys];
  if (keys.every((key) => key.reveal().length >= SHORTEST_KEY)) return [];
  return [`HARNESS_API_KEY has a key of fewer than ${SHORTEST_KEY} characters: it can be guessed`];
}

/** What parses and is still worth a word at start, one sentence each. */
export function warningsOf(config: Config): string[] {
  const warnings = keyWarningsOf(config);
  if (config.redisUrls.length > 0 && config.harnessApiKey === null) {
    warnings.push(
      "HARNESS_API_KEY is unset with REDIS_URL set: every DATA_DIR generates a key of its own, so instances will differ",
    );
  }
  if (config.redisUrls.some((url) => isOpenToOthers(new URL(url.reveal())))) {
    warnings.push(
      "REDIS_URL names another machine without a password: whoever reaches it reads every conversation",
    );
  }
  if (config.clientIpSource !== "socket" && config.trustedProxyHops > 5) {
    warnings.push(
      `TRUSTED_PROXY_HOPS is ${config.trustedProxyHops}: with fewer proxies than that, clients choose the address they count by`,
    );
  }
  return warnings;
}

/** Settings begin with these, and nobody else's variables do. */
const OUR_PREFIXES = ["HARNESS_", "OIDC_", "WIDGET_"];
/** Shorter names are near to those of other programs. */
const SHORTEST_NAME = 8;
/** What other services, and a library, call it. */
const ELSEWHERE = new Map([
  ["RATE_LIMIT", "WIDGET_MESSAGES_PER_MINUTE"],
  ["REDIS_HOST", "REDIS_URL"],
  ["REDIS_URI", "REDIS_URL"],
  // The library's own, which MAX_HEAD_BYTES overwrites.
  ["UWS_HTTP_MAX_HEADERS_SIZE", "MAX_HEAD_BYTES"],
]);

/**
 * Variables of the environment that nothing reads, and that somebody may have meant as settings, a sentence each. `isRead`:
 * those that a file names as `$NAME`.
 */
export function unknownNamesOf(
  env: Readonly<NodeJS.ProcessEnv>,
  isRead: (name: string) => boolean,
): string[] {
  const known = SETTINGS.filter((name) => name.length >= SHORTEST_NAME);
  return Object.keys(env)
    .filter((name) => !SETTINGS.includes(name) && !isRead(name))
    .flatMap((name) => {
      const meant = ELSEWHERE.get(name) ?? (name.length < SHORTEST_NAME ? null : closest(name, known));
      const isOurs = OUR_PREFIXES.some((prefix) => name.startsWith(prefix));
      if (meant === null && !isOurs) return [];
      const hint = meant === null || env[meant] !== undefined ? "" : `; did you mean ${meant}?`;
      return [`${name} is set, and is no setting of this service: it does nothing${hint}`];
    });
}

/** A name one or two letters away; a longer distance, and a number or a word behind a known name, is a name of its own. */
function closest(name: string, known: readonly string[]): string | null {
  const meant = nearestName(name, known, 2);
  return meant === null || name.startsWith(meant) ? null : meant;
}

function isOpenToOthers(url: URL): boolean {
  return url.password === "" && !isLoopback(url.hostname);
}
