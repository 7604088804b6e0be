import { setTimeout as pause } from "node:timers/promises";

/** Far more than anything here takes on a busy machine: whoever waits for so long waits for what never comes. */
const PATIENCE_MS = 120_000;
const LOOK_EVERY_MS = 25;

/** Resolves when the condition holds; names it where it never does, and tells what there is instead. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  instead: () => Promise<string> | string = () => "",
): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > endsAt) throw new Error(`Waited in vain: ${what}\n${await instead()}`);
    await pause(LOOK_EVERY_MS);
  }
}
