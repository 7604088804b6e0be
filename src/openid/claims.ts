import type { Operator, OperatorRole } from "../domain/operator.ts";
import { operatorNameFault } from "../domain/operator.ts";

/** What a provider says of who signed in: what its ID token holds, and its answer of userinfo. */
export type Claims = Readonly<Record<string, unknown>>;

/** What a person may do. */
export type Granted = Pick<Operator, "role" | "channels">;

/** The mightiest first. */
const ROLES: readonly OperatorRole[] = ["admin", "agent", "auditor"];

/**
 * The role of the claim's values, which are `ROLE` or `ROLE:SLUG`; others are somebody else's. Of several roles the
 * mightiest counts, in all channels or in those that are named with it. Null: none of them is a role.
 */
export function grantedBy(values: readonly string[]): Granted | null {
  for (const role of ROLES) {
    if (values.includes(role)) return { role, channels: null };
    const prefix = `${role}:`;
    const slugs = values
      .filter((value) => value.startsWith(prefix) && value.length > prefix.length)
      .map((value) => value.slice(prefix.length));
    if (slugs.length > 0) return { role, channels: [...new Set(slugs)].sort() };
  }
  return null;
}

/** The claim's texts: a list, or one text with spaces between them. Null: there is no such claim. */
export function claimedRoles(claims: Claims, claim: string): string[] | null {
  const found = claimAt(claims, claim);
  if (found === undefined) return null;
  if (typeof found === "string") return found.split(" ").filter((value) => value !== "");
  return Array.isArray(found) ? found.filter((value) => typeof value === "string") : [];
}

/** By its name, which may hold dots as addresses do; else by its path, as `realm_access.roles`. */
function claimAt(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  let at: unknown = claims;
  for (const part of claim.split(".")) {
    if (!isRecord(at) || !Object.hasOwn(at, part)) return undefined;
    at = at[part];
  }
  return at;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the audit is to call a person: the first that can be an operator's name. */
export function nameIn(claims: Claims): string {
  const names = ["preferred_username", "email", "name", "sub"].map((claim) => claims[claim]);
  const isName = (name: unknown): name is string =>
    typeof name === "string" && operatorNameFault(name) === null;
  return names.find(isName) ?? "somebody";
}
