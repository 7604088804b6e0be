import type { ErrorLine } from "../../../machines/line.ts";
import type { Problem } from "../view/state.ts";
import type { Strings } from "../strings/strings.ts";
import { Refused, Unreachable } from "../service/transport.ts";

/** What an error line means to the visitor. */
export function problemOf({ code, message, hint }: ErrorLine, strings: Strings): Problem {
  switch (code ?? "fault") {
    case "task_failed":
    case "budget_exceeded":
      // Said by the agent or the site, in the visitor's own language where it can be.
      return { text: message, hint, retry: null };
    case "cancelled":
    case "superseded":
      return { text: strings.stopped, retry: null };
    case "expired":
      return { text: strings.expired, retry: "again" };
    case "interrupted":
    case "fault":
      return { text: strings.failed, retry: "again" };
  }
}

/** Troubles whose reason only the page's owner can remove are told where owners look. */
export function tellOwner(error: unknown): void {
  if (error instanceof Unreachable) console.warn(`chat-agent: ${error.message}`);
  else if (!(error instanceof Refused)) console.error("chat-agent:", error);
  else if (error.status === 403) {
    console.warn("chat-agent: refused: the channel is disabled, or this visitor or address is not allowed");
  } else if (error.status === 401) {
    console.warn("chat-agent: the service does not know this publishable-key");
  }
}
