import { delay } from "../service/delay.ts";
import type { ConversationDependencies } from "./conversation-dependencies.ts";

/** Counts the seconds down in the banner. After a cut connection it also waits until the browser is online. */
export async function pause(
  { view, host }: Pick<ConversationDependencies, "view" | "host">,
  seconds: number,
  reason: "cut" | "busy",
  signal?: AbortSignal,
): Promise<void> {
  const strings = host.strings();
  for (let left = seconds; left > 0 && signal?.aborted !== true; left -= 1) {
    const text = reason === "busy" ? strings.slowDown.replace("{n}", String(left)) : strings.reconnecting;
    view.notify(text, false);
    await delay(1_000);
  }
  if (reason === "cut" && !navigator.onLine && signal?.aborted !== true) {
    await new Promise<unknown>((resolve) => {
      window.addEventListener("online", resolve, { once: true });
      signal?.addEventListener("abort", resolve, { once: true });
    });
  }
  view.change({ notice: null });
}
