import { endpoint } from "../endpoint.ts";
import { z } from "zod";
import type { AuditEntry } from "../../domain/people/audit.ts";
import { readAudit } from "../../operators/read-audit.ts";
import { documentedList, listAnswer, listFields } from "./lists.ts";
import type { OperatorApi } from "./operator-api.ts";

const entrySchema = z.object({
  at: z.int().describe("Unix time in milliseconds"),
  operator: z.string().describe("A name, or `command line`, `visitor`, `retention`"),
  action: z.string(),
  target: z.string().describe("The service's own id, a slug, an address or a name"),
  detail: z.record(z.string(), z.unknown()).optional(),
});

/** A time in the query. `usual`: where there is none. */
export function timeField(description: string, usual: number) {
  return {
    description: `${description}: Unix time in milliseconds`,
    schema: z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number)
      .default(usual),
    shown: z.int(),
    example: 1_800_000_000_000,
  };
}

/** GET /v1/operator/audit: who did what, newest first. */
export function auditEndpoint({ store }: Pick<OperatorApi, "store">) {
  return endpoint({
    method: "GET",
    path: "/v1/operator/audit",
    credential: "operatorKey",
    roles: ["admin", "auditor"],
    summary: "Read the audit",
    description:
      "Newest first; kept for 365 days. With `operator` or `thread` a page may hold fewer than `limit`, even none, and have a next one. Who is limited to channels sees theirs.",
    query: {
      ...listFields("audit"),
      since: timeField("Only of this time and later", 0),
      operator: {
        description: "Only what this one did",
        example: "ada",
      },
      thread: {
        description: "Only what was done to this thread",
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
    async handle({ caller: { channels }, query }) {
      const { limit, cursor: after, since: sinceMs, operator, thread: target } = query;
      const { entries, next } = await readAudit(
        store,
        { limit, after, sinceMs },
        { operator, target, channels },
      );
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
