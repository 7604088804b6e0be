import robotsParser from "robots-parser";
import { ROBOT } from "./page-fetch.ts";
import type { PageFetch } from "./page-fetch.ts";

/** What a site lets robots read (RFC 9309). */
export interface Robots {
  allows(url: string): boolean;
  /** Addresses of sitemaps that it names. */
  sitemaps: string[];
}

// A cast: the package is CommonJS, and its types say otherwise.
const parse = robotsParser as unknown as typeof robotsParser.default;

const ALL: Robots = { allows: () => true, sitemaps: [] };

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
  return { allows: (url) => rules.isAllowed(url, ROBOT) !== false, sitemaps: rules.getSitemaps() };
}
