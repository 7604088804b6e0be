import { Refused, Unreachable } from "../service/widget-api.ts";

/** Errors that only the page's owner can fix go to the browser's console. */
export function warnOwner(error: unknown): void {
  if (error instanceof Unreachable) console.warn(`chat-agent: ${error.message}`);
  else if (!(error instanceof Refused)) console.error("chat-agent:", error);
  else if (error.status === 403) {
    console.warn(
      "chat-agent: refused: the channel is disabled, or this visitor or address is blocked or not whitelisted",
    );
  } else if (error.status === 401) {
    console.warn("chat-agent: the service does not know this publishable-key");
  }
}
