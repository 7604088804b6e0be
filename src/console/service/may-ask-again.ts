import { pause } from "./keep-open.ts";
import { isAway } from "./problem.ts";

/** The pause before a request is repeated that did not reach the service. */
const AWAY_MS = 5_000;

/**
 * Waits if the request did not reach the service, less if the browser comes back online. Resolves to true if it may be sent
 * again; false: the service refused it, or the signal ended the wait.
 */
export async function mayAskAgain(error: unknown, signal: AbortSignal): Promise<boolean> {
  if (!isAway(error)) return false;
  await pause(AWAY_MS, signal);
  return !signal.aborted;
}
