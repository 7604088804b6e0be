/** The store's deadline for tests that are not about it: a busy machine may take longer than two seconds for anything. */
export const UNHURRIED_MS = 20_000;
