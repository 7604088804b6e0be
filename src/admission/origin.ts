import type { Channel } from "../domain/channels/channel.ts";
import { Refusal } from "../domain/refusal.ts";
import type { RequestHead } from "./arrival.ts";

/**
 * The origin of a browser's request. `origin`: its Origin header. `host`: the Host of a same-origin GET, which browsers send
 * without an Origin (contract, Order of the checks).
 */
export type Provenance = { type: "origin"; origin: string } | { type: "host"; host: string };

/** null if the request has no origin, and none is implied. */
export function provenanceOf(request: Pick<RequestHead, "method" | "headers">): Provenance | null {
  const origin = request.headers.get("origin");
  if (origin !== undefined) return { type: "origin", origin };
  const host = request.headers.get("host");
  const isSameOrigin = request.method === "GET" && request.headers.get("sec-fetch-site") === "same-origin";
  return isSameOrigin && host !== undefined ? { type: "host", host } : null;
}

/** Is it one of these origins? Compared exactly: another suffix, port or case is another origin. */
export function comesFrom(provenance: Provenance, origins: readonly string[]): boolean {
  // Sandboxed frames and local files of anybody send "null".
  if (provenance.type === "origin")
    return provenance.origin !== "null" && origins.includes(provenance.origin);
  return origins.some((origin) => hostOf(origin) === provenance.host);
}

/** The origin is some web channel's, but not this one's: refused without CORS headers (the spec, CORS). */
export class ForeignOrigin extends Refusal {
  constructor() {
    super("forbidden");
    this.name = "ForeignOrigin";
  }
}

/** Throws ForeignOrigin unless the channel allows the origin. */
export function mustAllow(channel: Pick<Channel, "allowedOrigins">, provenance: Provenance): void {
  if (!comesFrom(provenance, channel.allowedOrigins)) throw new ForeignOrigin();
}

/** `host[:port]` of an origin, as a browser writes it into Host. */
export function hostOf(origin: string): string {
  return origin.slice(origin.indexOf("://") + 3);
}
