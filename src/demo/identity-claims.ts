import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";

/** The claims in the token of a call (src/agent, MCP servers): a receiver of such tokens checks them like this. */
const claimsSchema = z.object({
  iss: z.literal("chat-agent-service"),
  exp: z.number(),
  channel: z.string(),
  /** Absent when tools are listed: the list is the same for all users of a channel. */
  sub: z.string().optional(),
  ext: z.string().optional(),
  thread: z.string().optional(),
  verified: z.boolean().optional(),
});

export type IdentityClaims = z.infer<typeof claimsSchema>;

/** null: no token, one signed with another key, or an expired one. */
export function claimsFrom(
  authorization: string | undefined,
  { key, nowMs }: { key: string; nowMs: number },
): IdentityClaims | null {
  const [, head = "", body = "", signature = ""] =
    /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(authorization ?? "") ?? [];
  // We choose the algorithm, not the token.
  if (headSchema.safeParse(decoded(head)).data?.alg !== "HS256") return null;
  if (!isSame(signature, createHmac("sha256", key).update(`${head}.${body}`).digest("base64url")))
    return null;
  const claims = claimsSchema.safeParse(decoded(body)).data;
  return claims !== undefined && nowMs < claims.exp * 1_000 ? claims : null;
}

const headSchema = z.object({ alg: z.string() });

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function decoded(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString());
  } catch {
    return undefined;
  }
}
