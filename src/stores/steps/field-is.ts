import type { Check } from "../engine.ts";

/** The field has one of these values; null: it is absent. */
export function fieldIs(key: string, field: string, ...is: (string | null)[]): Check {
  return { check: "field", key, field, is };
}

/** Each of the fields has its value in one of these lists, which are in the order of the fields. */
export function fieldsAre(
  key: string,
  fields: readonly string[],
  ...lists: (readonly (string | null)[])[]
): Check[] {
  return fields.map((field, nth) => fieldIs(key, field, ...lists.map((list) => list[nth] ?? null)));
}
