import { z } from "zod";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import { Refusal } from "../../domain/refusal.ts";
import { callerId, channelSlug } from "../fields.ts";
import { queryOf } from "../body.ts";
import type { Field, RouteRequest } from "../route.ts";

/**
 * The owner of the thread that a GET of the server API names in its path. Endpoints add further fields of the query.
 */
export const ownerQuery = z.object({ userId: callerId, channel: channelSlug.default("cli") });

export const ownerFields: Record<string, Field> = {
  userId: {
    description: "The user's id in the caller's system, within the channel",
    schema: callerId,
    required: true,
    example: "ada",
  },
  channel: {
    description: "Channel slug",
    schema: channelSlug.default("cli"),
    required: false,
    example: "cli",
  },
};

/** The `:threadId` of a path. */
export const namedThreadParam: Record<string, Field> = {
  threadId: {
    description: "The caller's own conversation id, or the id of a thread that began in the widget",
    schema: callerId,
    required: true,
    example: "chat-1",
  },
};

export type ThreadAdmission = Pick<ServerAdmission, "transport" | "threadOf">;

/**
 * Admits a transport's read, and finds the thread: Refusal("invalid") for a query outside the schema, then
 * Refusal("not-found") for an unknown channel, user or thread.
 */
export async function admitToNamedThread<Query extends z.infer<typeof ownerQuery>>(
  incoming: RouteRequest,
  admission: ThreadAdmission,
  schema: z.ZodType<Query>,
): Promise<{ uid: string; query: Query }> {
  admission.transport(incoming.request);
  const query = queryOf(incoming.request, schema);
  const { userId: externalId, channel: slug } = query;
  const threadId = incoming.params["threadId"] ?? "";
  if (!callerId.safeParse(threadId).success) throw new Refusal("invalid", "The path holds no threadId");
  const uid = await admission.threadOf(incoming, { slug, externalId, threadId });
  if (uid === null) throw new Refusal("not-found", "Unknown thread");
  return { uid, query };
}
