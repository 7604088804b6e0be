import type { Operator, OperatorRole } from "../domain/operator.ts";
import { operatorNameFault } from "../domain/operator-name.ts";

/** A provider's claims about a person who signed in: those of the ID token and of userinfo. */
export type Claims = Readonly<Record<string, unknown>>;

/** What a person may do. */
export type Granted = Pick<Operator, "role" | "channels">;

/** The most powerful first. */
const ROLES: readonly OperatorRole[] = ["admin", "agent", "auditor"];

/**
 * The role in the claim's values, which are `ROLE` or `ROLE:SLUG`; other values are meant for other programs. Of several
 * roles the most powerful counts, in all channels or in those that are named with it. null: no value is a role.
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

/** The claim's values: a list, or one text separated by spaces. null: there is no such claim. */
export function claimedRoles(claims: Claims, claim: string): string[] | null {
  const found = claimAt(claims, claim);
  if (found === undefined) return null;
  if (typeof found === "string") return found.split(" ").filter((value) => value !== "");
  return Array.isArray(found) ? found.filter((value) => typeof value === "string") : [];
}

/** Finds a claim by its name, which may have dots as URLs do; else by its path, such as `realm_access.roles`. */
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

/** The person's name in the audit: the first claim that is a valid operator's name. */
export function nameIn(claims: Claims): string {
  const names = ["preferred_username", "email", "name", "sub"].map((claim) => claims[claim]);
  const isName = (name: unknown): name is string =>
    typeof name === "string" && operatorNameFault(name) === null;
  return names.find(isName) ?? "somebody";
}
