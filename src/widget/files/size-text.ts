/** A size as people read it: `640 kB`, in the language of the tag. */
export function sizeText(bytes: number, tag: string): string {
  const [value, unit] = bytes >= 1_000_000 ? [bytes / 1_000_000, "megabyte"] : [bytes / 1_000, "kilobyte"];
  return new Intl.NumberFormat(tag, {
    style: "unit",
    unit,
    maximumFractionDigits: value < 10 ? 1 : 0,
  }).format(value);
}
