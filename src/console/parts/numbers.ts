const WHOLE = new Intl.NumberFormat();
const COMPACT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

export function numberText(value: number): string {
  return WHOLE.format(value);
}

export function compactText(value: number): string {
  return COMPACT.format(value);
}

const MEGA = 1_000_000;

/** Of bytes, in whole kilobytes at least. */
export function sizeText(bytes: number): string {
  if (bytes < MEGA) return `${WHOLE.format(Math.ceil(bytes / 1_000))} KB`;
  return `${COMPACT.format(bytes / MEGA)} MB`;
}
