import { isRecord } from "../../is-record.ts";
import { setTimeout as pause } from "node:timers/promises";

/** As the SDK's own clients do it. */
const MOST_ROUNDS = 10;
const PAUSE_MS = 250;

/**
 * A call that its server puts off, to shed load: `input_required` with nothing but a `requestState`, which comes back with the
 * call's next try (MCP 2026-07-28, Multi Round-Trip Requests, Client Requirements). The server holds nothing meanwhile, and
 * each try is a request of its own. The last answer stands if it puts the call off too often; rejects with an abort too.
 */
export async function notPutOff(
  ask: (again: { requestState?: string }) => Promise<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  let result = await ask({});
  for (let round = 0; round < MOST_ROUNDS && isPutOff(result); round += 1) {
    await pause(PAUSE_MS, undefined, { signal });
    result = await ask({ requestState: result["requestState"] });
  }
  return result;
}

/** A server that asks for nothing and gives nothing to come back with asks for what nobody knows. */
export function isPutOff(
  result: Record<string, unknown>,
): result is Record<string, unknown> & { requestState: string } {
  const { resultType, inputRequests, requestState } = result;
  const asksNothing = inputRequests === undefined || (isRecord(inputRequests) && isEmpty(inputRequests));
  return resultType === "input_required" && asksNothing && typeof requestState === "string";
}

function isEmpty(record: Record<string, unknown>): boolean {
  return Object.keys(record).length === 0;
}
