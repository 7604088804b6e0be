/**
 * The name that somebody probably meant: the nearest of the known ones, at most a third of its letters away (inserted,
 * left out, replaced, or two swapped), and no more than `mostSteps`; null: none is near, or it is one of them.
 */
export function nearestName(name: string, known: Iterable<string>, mostSteps = Infinity): string | null {
  let nearest: { name: string; steps: number } | null = null;
  for (const other of known) {
    if (other === name) return null;
    const most = Math.min(mostSteps, Math.floor(Math.min(other.length, name.length) / 3));
    if (Math.abs(other.length - name.length) > most) continue;
    const steps = stepsBetween(name, other);
    if (steps <= most && steps < (nearest?.steps ?? Infinity)) nearest = { name: other, steps };
  }
  return nearest?.name ?? null;
}

/** Optimal string alignment: Levenshtein's distance, in which two swapped letters are one step. */
function stepsBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, next];
  }
  return last[other.length] ?? 0;
}
