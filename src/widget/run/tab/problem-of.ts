import type { ErrorLine } from "../../../../machines/line.ts";
import type { Strings } from "../../strings/strings.ts";
import type { Problem } from "../../view/view-state.ts";

/** What an error line means to the visitor. */
export function problemOf({ code, message, hint }: ErrorLine, strings: Strings): Problem {
  switch (code ?? "fault") {
    case "task_failed":
    case "budget_exceeded":
      // Written by the agent or the site, in the visitor's language if possible.
      return { text: message, hint, retry: null };
    case "cancelled":
    case "superseded":
    case "deleted":
      return { text: strings.stopped, retry: null };
    case "expired":
      return { text: strings.expired, retry: "again" };
    case "interrupted":
    case "fault":
    // A code of a newer service.
    default:
      return { text: strings.failed, retry: "again" };
  }
}
