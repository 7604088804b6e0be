import type { Refusal } from "../domain/refusal.ts";

/**
 * What was read of a request: from here on everything is typed and trusted.
 * A refusal comes back as a value, because on the widget API other checks come first (contract, Order of the checks);
 * a body over the limit, or a client that left, rejects at once.
 */
export type Reading<Value> = { ok: true; value: Value } | { ok: false; refusal: Refusal };
