import robotsParser from "robots-parser";
import { ROBOT } from "./page-fetch.ts";
import type { PageFetch } from "./page-fetch.ts";

/** What a site lets robots read (RFC 9309). */
export interface Robots {
  allows(url: string): boolean;
  /** How long it wants a robot to wait between two requests, in ms; 0: it does not say. */
  delayMs: number;
}

// A cast: the package is CommonJS, and its types say otherwise.
const parse = robotsParser as unknown as typeof robotsParser.default;

/** Of a longer delay it would take days to read a site. */
const MOST_DELAY_MS = 5_000;

const ALL: Robots = { allows: () => true, delayMs: 0 };

/**
 * Reads a site's robots.txt. Without one, everything is allowed; where it cannot be read now (no answer, 5xx), nothing is, as the
 * standard wants: rejects with why.
 */
export async function readRobots(origin: string, fetching: Pick<PageFetch, "get">): Promise<Robots> {
  const address = new URL("/robots.txt", origin).href;
  const { status, bytes } = await fetching.get(address);
  if (status >= 500) throw new Error(`its robots.txt cannot be read: status ${status}`);
  if (status !== 200) return ALL;
  const rules = parse(address, new TextDecoder().decode(bytes));
  return {
    allows: (url) => rules.isAllowed(url, ROBOT) !== false,
    delayMs: Math.min((rules.getCrawlDelay(ROBOT) ?? 0) * 1_000, MOST_DELAY_MS),
  };
}
