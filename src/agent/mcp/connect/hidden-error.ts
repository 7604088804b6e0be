import { cutText } from "../../../../machines/line.ts";

/** A server's error may be as long as its answers; more says nothing more. */
const MESSAGE_CHARS = 2_000;
const MOST_CAUSES = 5;

/** Takes the secrets of a connection out of an error: servers echo headers, and libraries quote what they were given. */
export type HideInError = (error: unknown) => unknown;

/**
 * Of one connection alone: its headers, its key and its credentials come from whoever made the channel, so to hide them
 * in all of the log would let that person blank it. The error stays of its class and code; of a long `data` only the
 * status of HTTP is left.
 */
export function hideInErrors(hide: (text: string) => string): HideInError {
  const hideOne = (error: Error) => {
    const { message } = error;
    const shown = cutText(hide(message), MESSAGE_CHARS);
    if (shown === message) return;
    // The stack begins with the message.
    if (error.stack !== undefined) error.stack = hide(error.stack.replace(message, () => shown));
    error.message = shown;
  };
  return (error) => {
    let one: unknown = error;
    for (let depth = 0; depth < MOST_CAUSES && one instanceof Error; depth += 1) {
      hideOne(one);
      if ("data" in one && one.data !== undefined) hideData(one, hide);
      one = one.cause;
    }
    return error;
  };
}

function hideData(error: Error & { data: unknown }, hide: (text: string) => string): void {
  const json = JSON.stringify(error.data) ?? "null";
  error.data = json.length > MESSAGE_CHARS ? statusOf(error.data) : (JSON.parse(hide(json)) as unknown);
}

/** What is left of data that is too long: what an error of HTTP is told apart by. */
function statusOf(data: unknown): { status?: number } {
  const { status } = data as { status?: unknown };
  return typeof status === "number" ? { status } : {};
}
