/**
 * Invariants that the service is known to break today, each with its reason: none. Simulations pass them over, so that
 * they find the next one; who mends one takes it out of this list.
 */
export const KNOWN: Readonly<Record<string, string>> = {};
