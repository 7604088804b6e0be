/**
 * What a backend knows of its user (contract, Providers and models): facts of the site, not claims of the visitor. They are
 * stored with the user, and given to the model with each message. Without attributes the field is absent, never an empty map.
 */
export type Attributes = Record<string, string | number | boolean>;

/** The limit of their JSON, in UTF-16 units: they are in every prompt and stored with every run. */
export const MAX_ATTRIBUTES_CHARS = 4_000;

export function attributesFit(attributes: Attributes): boolean {
  return JSON.stringify(attributes).length <= MAX_ATTRIBUTES_CHARS;
}

/** As a field of a record: absent if there are none. */
export function attributesField(attributes: Attributes | undefined): { attributes?: Attributes } {
  return attributes === undefined || Object.keys(attributes).length === 0 ? {} : { attributes };
}

/** The attributes after a merge: the account's come first, and only the account's remain if both together are too long. */
export function mergeAttributes(
  account: Attributes | undefined,
  other: Attributes | undefined,
): Attributes | undefined {
  if (account === undefined || other === undefined) return account ?? other;
  const both = { ...other, ...account };
  return attributesFit(both) ? both : account;
}
