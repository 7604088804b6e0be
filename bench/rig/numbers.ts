/** The value below which a share of the values lies: 0.5 is the median. NaN if there are no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Three significant digits, for people: 0.312, 4.05, 61.3, 2,850. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3);
}

/** The median of the repeats, and their range: `0.312 (0.300–0.341)`. */
export function withSpread(repeats: readonly number[]): string {
  const told = shown(median(repeats));
  if (repeats.length < 2) return told;
  return `${told} (${shown(Math.min(...repeats))}–${shown(Math.max(...repeats))})`;
}

/**
 * Between which two of the values their median lies, in 19 of 20 such measurements: by rank, whatever their distribution. Of
 * fewer than six values, the lowest and the highest, which is less sure.
 */
export function medianWithin(values: readonly number[]): { low: number; high: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const off = 0.98 * Math.sqrt(sorted.length);
  const low = Math.max(0, Math.floor((sorted.length - 1) / 2 - off));
  return { low: sorted[low] ?? NaN, high: sorted[sorted.length - 1 - low] ?? NaN };
}

/** The median of many repeats, and between what it lies: `1.02 (1.01–1.04)`. */
export function withMedianRange(repeats: readonly number[]): string {
  const { low, high } = medianWithin(repeats);
  return `${shown(median(repeats))} (${shown(low)}–${shown(high)})`;
}
