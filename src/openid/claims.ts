import { isRecord } from "../is-record.ts";
import type { MappedRole } from "../config/open-id.ts";
import type { Operator, OperatorRole } from "../domain/people/operator.ts";
import { operatorNameFault } from "../domain/people/operator-name.ts";

/** A provider's claims about a person who signed in: those of the ID token and of userinfo. */
export type Claims = Readonly<Record<string, unknown>>;

/** What a person may do. */
export type Granted = Pick<Operator, "role" | "channels">;

/** The most powerful first. */
const ROLES: readonly OperatorRole[] = ["admin", "agent", "auditor"];

/**
 * The role that the claim's values grant: those that OIDC_ROLES maps to one, each compared as a whole; without OIDC_ROLES
 * the values themselves, `ROLE` or `ROLE:SLUG`. Other values are meant for other programs. Of several roles the most
 * powerful counts, in all channels or in those that are named with it. null: no value is a role.
 */
export function grantedBy(values: readonly string[], mapped: readonly MappedRole[] | null): Granted | null {
  const granted =
    mapped === null ? values : mapped.flatMap((one) => (values.includes(one.value) ? one.role : []));
  for (const role of ROLES) {
    if (granted.includes(role)) return { role, channels: null };
    const prefix = `${role}:`;
    const slugs = granted
      .filter((one) => one.startsWith(prefix) && one.length > prefix.length)
      .map((one) => one.slice(prefix.length));
    if (slugs.length > 0) return { role, channels: [...new Set(slugs)].sort() };
  }
  return null;
}

/**
 * The claim's values: a list, or a text, which is one value. Names of groups have spaces and commas, so nothing is split.
 * null: there is no such claim.
 */
export function claimedRoles(claims: Claims, claim: string): string[] | null {
  const found = claimAt(claims, claim);
  if (found === undefined) return null;
  if (typeof found === "string") return [found];
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

/** The person's name in the audit: the first claim that is a valid operator's name. */
export function nameIn(claims: Claims): string {
  const names = ["preferred_username", "email", "name", "sub"].map((claim) => claims[claim]);
  const isName = (name: unknown): name is string =>
    typeof name === "string" && operatorNameFault(name) === null;
  return names.find(isName) ?? "somebody";
}
