/**
 * What a backend knows of its user (contract, Providers and models): facts of the site, not claims of the visitor. Kept with the user, and
 * told to the model with each message. A user without any has none, never an empty map.
 */
export type Attributes = Record<string, string | number | boolean>;

/** Of their JSON, in UTF-16 units: they are in every prompt and beside every run. */
export const MAX_ATTRIBUTES_CHARS = 4_000;

export function attributesFit(attributes: Attributes): boolean {
  return JSON.stringify(attributes).length <= MAX_ATTRIBUTES_CHARS;
}

/** As a record's field: absent where there are none. */
export function attributesField(attributes: Attributes | undefined): { attributes?: Attributes } {
  return attributes === undefined || Object.keys(attributes).length === 0 ? {} : { attributes };
}

/** Of two sides that become one: the account's own stand above the others, and alone where both together are too many. */
export function mergeAttributes(
  account: Attributes | undefined,
  other: Attributes | undefined,
): Attributes | undefined {
  if (account === undefined || other === undefined) return account ?? other;
  const both = { ...other, ...account };
  return attributesFit(both) ? both : account;
}
