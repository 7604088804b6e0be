const WHOLE = new Intl.NumberFormat();
const COMPACT = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });

export function numberText(value: number): string {
  return WHOLE.format(value);
}

export function compactText(value: number): string {
  return COMPACT.format(value);
}
