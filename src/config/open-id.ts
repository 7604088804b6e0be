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
}

export const openIdVariables = {
  OIDC_ISSUER: z
    .string()
    .refine(isIssuer, "an https:// address without ? and #, or http:// of this machine")
    .nullable()
    .default(null),
  OIDC_CLIENT_ID: z.string().nullable().default(null),
  OIDC_CLIENT_SECRET: key().nullable().default(null),
  OIDC_ROLES_CLAIM: z.string().nullable().default(null),
};

const openIdSchema = z.object(openIdVariables);

/** All that a sign-in needs, or nothing of it. Throws ConfigError. */
export function openIdOf(value: z.infer<typeof openIdSchema>): OpenIdSettings | null {
  const {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_CLIENT_SECRET: clientSecret,
    OIDC_ROLES_CLAIM: rolesClaim,
  } = value;
  if (issuer !== null && clientId !== null && rolesClaim !== null) {
    return { issuer, clientId, clientSecret, rolesClaim };
  }
  const all = Object.entries({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: clientId,
    OIDC_ROLES_CLAIM: rolesClaim,
    OIDC_CLIENT_SECRET: clientSecret,
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
