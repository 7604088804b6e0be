import { z } from "zod";
import type { AuditEntry } from "../../domain/audit.ts";
import { readAudit } from "../../operators/read-audit.ts";
import type { Field, Route } from "../route.ts";
import { documentedList, listAnswer, listFields, listingOf } from "./lists.ts";
import { operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";

const entrySchema = z.object({
  at: z.int().describe("Unix time in milliseconds"),
  operator: z.string().describe("A name, or `command line`, `visitor`, `retention`"),
  action: z.string(),
  target: z.string().describe("The service's own id, a slug, an address or a name"),
  detail: z.record(z.string(), z.unknown()).optional(),
});

export const unixMs = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

const querySchema = z.object({
  since: unixMs.default(0),
  operator: z.string().nullable().default(null),
  thread: z.string().nullable().default(null),
});

export const sinceField: Field = {
  description: "Only of this time and later: Unix time in milliseconds",
  schema: z.int(),
  required: false,
  example: 1_800_000_000_000,
};

/** GET /v1/operator/audit: who did what, newest first. */
export function auditRoute(api: OperatorApi): Route {
  return operatorRoute(api, {
    method: "GET",
    path: "/audit",
    roles: ["admin", "auditor"],
    scope: "channels",
    summary: "Read the audit",
    description:
      "Newest first; kept for 365 days. With `operator` or `thread` a page may hold fewer than `limit`, even none, and have a next one. Who is limited to channels sees theirs.",
    query: {
      ...listFields,
      since: sinceField,
      operator: {
        description: "Only what this one did",
        schema: z.string(),
        required: false,
        example: "ada",
      },
      thread: {
        description: "Only what was done to this thread",
        schema: z.string(),
        required: false,
        example: "bkQmzpTqyiWfXH2uJ3dVxw",
      },
    },
    answers: {
      200: documentedList("The entries", entrySchema, {
        at: 1_800_000_000_000,
        operator: "ada",
        action: "users.block",
        target: "8Zk3x0T5RrOeS3o1m1yq6g",
        detail: { channel: "shop" },
      }),
    },
    async handle({ incoming, operator }) {
      const { limit, after, query } = listingOf(incoming, "audit", querySchema);
      const page = { limit, after, sinceMs: query.since };
      const { entries, next } = await readAudit(api.store, page, {
        operator: query.operator,
        target: query.thread,
        channels: operator.channels,
      });
      return listAnswer("audit", entries.map(entryView), next);
    },
  });
}

function entryView({
  atMs,
  operator,
  action,
  target,
  slug,
  detail,
}: AuditEntry): z.infer<typeof entrySchema> {
  const known = { ...(slug === null ? {} : { channel: slug }), ...detail };
  return {
    at: atMs,
    operator,
    action,
    target,
    ...(Object.keys(known).length > 0 ? { detail: known } : {}),
  };
}
