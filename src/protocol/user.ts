import { z } from "zod";

/** A user as operators see one. */
export const user = z.object({
  userId: z.string().describe("The service's own id"),
  externalUserId: z.string().nullable().describe("The caller's id; null: anonymous"),
  displayName: z.string().nullable().exactOptional().describe("Not for auditors"),
  attributes: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .exactOptional()
    .describe("What the site told about the user; not for auditors"),
  blocked: z.boolean(),
  whitelisted: z.boolean(),
});
export type User = z.infer<typeof user>;
