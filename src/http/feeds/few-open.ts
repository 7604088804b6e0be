/** Answers that stay open, at most a few for each key: one more ends the oldest. */
export interface FewOpen {
  /** `end` ends the answer. Returns a function to call when the answer is over. */
  add(key: string, end: () => void): () => void;
}

export function createFewOpen(most: number): FewOpen {
  /** Each set in the order of opening. */
  const byKey = new Map<string, Set<{ end: () => void }>>();

  return {
    add(key, end) {
      const open = byKey.get(key) ?? new Set();
      byKey.set(key, open);
      const one = { end };
      open.add(one);
      const [oldest] = open;
      if (oldest && open.size > most) {
        // Removed at once: until its reader is told, more may be added.
        open.delete(oldest);
        oldest.end();
      }
      return () => {
        open.delete(one);
        if (open.size === 0 && byKey.get(key) === open) byKey.delete(key);
      };
    },
  };
}
