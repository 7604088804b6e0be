import { attributesField, mergeAttributes } from "./attributes.ts";
import type { User } from "./user.ts";

/** What identify does with a token's user and the account that the external id names (the spec, identify, rules 1 to 3). */
export type IdentityDecision =
  /** The token is already bound to this account: nothing changes. */
  | { type: "keep"; userId: string }
  /** The token is bound to another account. */
  | { type: "conflict" }
  /** No such account yet: the anonymous user becomes it. */
  | { type: "promote" }
  /** The account exists: the anonymous user's threads move to it. */
  | { type: "merge"; into: User; result: User };

export function decideIdentity(reading: {
  /** The token's user. */
  user: User;
  /** The external id that the token is bound to; null while it is anonymous. */
  boundTo: string | null;
  externalId: string;
  /** The account with that external id; null if there is none. */
  account: User | null;
}): IdentityDecision {
  const { user, boundTo, externalId, account } = reading;
  if (boundTo !== null)
    return boundTo === externalId ? { type: "keep", userId: user.userId } : { type: "conflict" };
  if (account === null) return { type: "promote" };
  return { type: "merge", into: account, result: mergeUsers(account, user) };
}

/** The account after a merge: it keeps a block or whitelisting of either side; its own displayName and attributes come first. */
export function mergeUsers(account: User, anonymous: User): User {
  return {
    ...account,
    displayName: account.displayName ?? anonymous.displayName,
    ...attributesField(mergeAttributes(account.attributes, anonymous.attributes)),
    blocked: account.blocked || anonymous.blocked,
    whitelisted: account.whitelisted || anonymous.whitelisted,
  };
}
