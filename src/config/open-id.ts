import { z } from "zod";
import type { Secret } from "../secret.ts";
import { ConfigError } from "./config-error.ts";
import { isLoopback, isUrl, key } from "./kinds.ts";

export interface OpenIdSettings {
  issuer: string;
  clientId: string;
  /** null: a public client. */
  clientSecret: Secret | null;
  rolesClaim: string;
  /** OIDC_ROLES; null: unset, the claim's values are roles themselves. */
  roles: MappedRole[] | null;
}

/** One pair of OIDC_ROLES. */
export interface MappedRole {
  /** A value of the claim, as a whole. */
  value: string;
  /** `ROLE` or `ROLE:SLUG`. */
  role: string;
}

/** An address that browsers are sent to. */
export const secureAddress = () =>
  z.string().refine(isIssuer, "an https:// address without ? and #, or http:// of this machine");

export const openIdVariables = {
  OIDC_ISSUER: secureAddress().nullable().default(null),
  OIDC_CLIENT_ID: z.string().nullable().default(null),
  OIDC_CLIENT_SECRET: key().nullable().default(null),
  OIDC_ROLES_CLAIM: z.string().nullable().default(null),
  OIDC_ROLES: z
    .string()
    .transform((text, context) => {
      const pairs = pairsIn(text);
      if (pairs === null) context.addIssue({ code: "custom", message: PAIRS });
      return pairs ?? z.NEVER;
    })
    .nullable()
    .default(null),
};

const PAIRS =
  "pairs value=role, separated by commas, whose role is admin, agent or auditor, or as agent:shop for one channel";

/** A value may have spaces, commas and equals signs, as an LDAP group's name has: a pair ends with a role. */
const PAIR = /\s*(.+?)=((?:admin|agent|auditor)(?::[a-z0-9_-]{1,64})?)\s*(?:,|$)/y;

/** Pairs that somebody separated by spaces would be one long value: that is refused, not taken. */
const PAIR_WITHIN = /=(admin|agent|auditor)(:[a-z0-9_-]{1,64})?\s/;

function pairsIn(text: string): MappedRole[] | null {
  const pairs: MappedRole[] = [];
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < text.length) {
    const [, value, role] = PAIR.exec(text) ?? [];
    if (value === undefined || role === undefined || PAIR_WITHIN.test(value)) return null;
    pairs.push({ value, role });
  }
  return pairs.length === 0 ? null : pairs;
}

const openIdSchema = z.object(openIdVariables);

/** All that a sign-in needs, or nothing of it. Throws ConfigError. */
export function openIdOf(value: z.infer<typeof openIdSchema>): OpenIdSettings | null {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLES_CLAIM: rolesClaim,
    OIDC_ROLES: roles,
  } = value;
  if (issuer !== null && clientId !== null && rolesClaim !== null) {
    return { issuer, clientId, clientSecret, rolesClaim, roles };
  }
  const all = Object.entries({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_ROLES_CLAIM: rolesClaim,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLES: roles,
  });
  const set = all.find(([, given]) => given !== null);
  if (set === undefined) return null;
  const unset = all.slice(0, 3).flatMap(([name, given]) => (given === null ? [name] : []));
  throw new ConfigError(
    `Cannot read the configuration: ${set[0]} is set, it takes ${unset.join(" and ")} beside it, unset here`,
  );
}

/** Whoever answers there says who is an admin: over a network that needs TLS. */
function isIssuer(text: string): boolean {
  if (!isUrl(text, ["https:", "http:"]) || /[?#]/.test(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || isLoopback(hostname);
}
