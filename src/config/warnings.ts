import type { Config } from "../config.ts";
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

function isOpenToOthers(url: URL): boolean {
  return url.password === "" && !isLoopback(url.hostname);
}
