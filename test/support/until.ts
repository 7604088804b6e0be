import { setTimeout as pause } from "node:timers/promises";

/** Far more than anything here takes on a busy machine: whoever waits for so long waits for what never comes. */
const PATIENCE_MS = 120_000;
const LOOK_EVERY_MS = 25;

/** Resolves when the condition holds; names it where it never does. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error(`Waited in vain: ${what}`);
    await pause(LOOK_EVERY_MS);
  }
}
