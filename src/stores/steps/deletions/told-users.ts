import { slotOf } from "../../engine.ts";
import type { Engine } from "../../engine.ts";
import { tables } from "../../tables.ts";
import { tellsOfIdentified } from "./tells-of-identified.ts";

/**
 * Removes the undelivered `user.identified` events of a deleted user; `user.deleted` stays. References to them are
 * dropped on delivery.
 */
export async function dropToldOf(engine: Engine, slug: string, userId: string): Promise<void> {
  const key = tables.channelOutbox.key(slug);
  for await (const page of engine.hashPages(key)) {
    const fields = page.filter(([, text]) => tellsOfIdentified(text, userId)).map(([field]) => field);
    if (fields.length === 0) continue;
    await engine.apply({ slot: slotOf(key), checks: [], writes: [{ write: "remove", key, fields }] });
  }
}
