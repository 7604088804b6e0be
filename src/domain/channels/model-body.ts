/** Fields of a model's request that `agent.body` may not have. Several answers to one request would be paid for, and one read. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["n", "best_of", "model", "messages", "stream"]);

export function isOwnField(name: string): boolean {
  return OWN_FIELDS.has(name);
}

/** A stored `agent.body`, which may be older than that rule. */
export function withoutOwnFields(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !isOwnField(name)));
}
