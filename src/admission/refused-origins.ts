import type { Clock } from "../clock.ts";
import type { PlainLog } from "../log.ts";

/**
 * Warns of pages whose origin is not allowed: once an hour for each origin. Any client may send any Origin,
 * so the number of warnings is limited, and text that is no page's origin is not written.
 */
export interface RefusedOrigins {
  /** `slug`: the channel that the page asked for; null: unknown, as in a preflight. */
  note(origin: string, slug: string | null): void;
}

/** Origins in an hour; later ones are only in the log lines of their requests. */
const MOST_AN_HOUR = 50;
const HOUR_MS = 3_600_000;

/** As browsers write it: scheme, host, port. RFC 6454, section 6.1. */
const PAGE_ORIGIN = /^(?=.{1,200}$)https?:\/\/[a-z\d.:[\]_-]+$/;

export function createRefusedOrigins({
  log,
  clock,
}: {
  log: Pick<PlainLog, "warn">;
  clock: Pick<Clock, "now">;
}): RefusedOrigins {
  let hour = -1;
  let told = new Set<string>();

  return {
    note(origin, slug) {
      const isNull = origin === "null";
      if (!isNull && !PAGE_ORIGIN.test(origin)) return;
      const now = Math.floor(clock.now() / HOUR_MS);
      if (now !== hour) told = new Set();
      hour = now;
      if (told.size > MOST_AN_HOUR || told.has(origin)) return;
      told.add(origin);
      if (told.size > MOST_AN_HOUR) {
        log.warn(
          { origins: MOST_AN_HOUR },
          "pages of many origins that are not allowed were refused: further ones are named in an hour",
        );
        return;
      }
      log.warn(
        { origin, ...(slug === null ? {} : { slug }) },
        isNull
          ? "refused a page without an origin: the chat needs a page with an address of its own, not a file or a sandboxed frame"
          : "refused a page of an origin that is not allowed: if it is yours, add it to the channel's allowedOrigins",
      );
    },
  };
}
