import { acceptsCoding } from "./accepts-coding.ts";

/** May the answer be gzipped? */
export function acceptsGzip(header: string | undefined): boolean {
  return acceptsCoding("gzip", header);
}
