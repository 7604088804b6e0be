import { delay } from "../../service/delay.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";

type PauseDependencies = Pick<ConversationDependencies, "view" | "host">;

/** After a 429: counts the seconds down in the banner. */
export async function pauseBusy(
  { view, host }: PauseDependencies,
  seconds: number,
  signal?: AbortSignal,
): Promise<void> {
  for (let left = seconds; left > 0 && signal?.aborted !== true; left -= 1) {
    view.notify(host.strings().slowDown.replace("{n}", String(left)), false);
    await delay(1_000);
  }
  view.change({ notice: null });
}

/**
 * After a lost connection: waits until the time is over or the page is visible again; while the browser is offline,
 * until it is online. Resolves to true if it came back online.
 */
export async function pauseCut(
  { view, host }: PauseDependencies,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  view.notify(host.strings().reconnecting, false);
  const done = new AbortController();
  let isBack = false;
  await new Promise<void>((resolve) => {
    const options = { signal: done.signal };
    const timer = setTimeout(() => navigator.onLine && resolve(), ms);
    done.signal.addEventListener("abort", () => clearTimeout(timer));
    signal.addEventListener("abort", () => resolve(), options);
    window.addEventListener("online", () => ((isBack = true), resolve()), options);
    const shown = () => document.visibilityState === "visible" && navigator.onLine && resolve();
    document.addEventListener("visibilitychange", shown, options);
    if (signal.aborted) resolve();
  });
  done.abort();
  view.change({ notice: null });
  return isBack;
}
