/**
 * Invariants that the service is known to break today, each with its reason. Simulations pass them over, so that they
 * find the next one; who mends one takes it out of this list.
 */
export const KNOWN: Readonly<Record<string, string>> = {
  "a-cancel-is-obeyed":
    "a cancel trusts a holder in this process that has lost its thread, and does not look who runs there now",
};
