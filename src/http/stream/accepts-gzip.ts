import { acceptsCoding } from "./accepts-coding.ts";

/** Does the client accept gzip? */
export function acceptsGzip(header: string | undefined): boolean {
  return acceptsCoding("gzip", header);
}
