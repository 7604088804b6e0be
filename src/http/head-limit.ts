import type { Config } from "../config.ts";
import type { HttpRequest } from "../listener.ts";
import type { PlainLog } from "../log.ts";

/**
 * Is the head of a request longer than MAX_HEAD_BYTES? A listener takes heads of up to twice as much, so that the answer is
 * one of this API: a page that sends its site's cookies can read it. The log tells once, with the remedy.
 */
export function headLimit(
  { maxHeadBytes }: Pick<Config, "maxHeadBytes">,
  log: Pick<PlainLog, "warn">,
): (request: HttpRequest) => boolean {
  let hasWarned = false;
  return (request) => {
    const bytes = headBytes(request);
    if (bytes <= maxHeadBytes) return false;
    if (!hasWarned) {
      hasWarned = true;
      log.warn(
        { bytes, cookieBytes: request.headers.get("cookie")?.length ?? 0 },
        `the head of a request is longer than MAX_HEAD_BYTES (${maxHeadBytes}): answered 431, and told once. Where a site's cookies are the reason, let the proxy remove them, or raise MAX_HEAD_BYTES`,
      );
    }
    return true;
  };
}

/** `METHOD PATH?QUERY HTTP/1.1`, a line for each header, an empty line. Values are bytes, a letter each. */
function headBytes({ method, path, query, headers }: HttpRequest): number {
  let bytes =
    method.length +
    path.length +
    query.length +
    (query === "" ? 0 : 1) +
    " ".length +
    " HTTP/1.1\r\n\r\n".length;
  for (const [name, value] of headers) bytes += name.length + value.length + ": \r\n".length;
  return bytes;
}
