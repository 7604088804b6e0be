import { z } from "zod";
import { exportThread, exportUser } from "../../operators/export-user.ts";
import type { ExportedRecord } from "../../operators/export-user.ts";
import { historyItem, itemOf } from "../history-page.ts";
import type { HttpAnswer } from "../../listener.ts";
import type { Route } from "../route.ts";
import { encodeObjects } from "../stream/ndjson.ts";
import { writePulled } from "../stream/pull.ts";
import { existingChannelThread, existingUser } from "./existing.ts";
import { operatorRoute } from "./operator-route.ts";
import type { OperatorApi, OperatorEndpoint } from "./operator-route.ts";
import { runSchema, threadParam, threadSchema } from "./threads.ts";
import { userParam, userSchema } from "./users.ts";

const thread = z.string().describe("The service's id of its thread");

const exportedLine = z.union([
  userSchema.extend({ type: z.literal("user") }),
  threadSchema
    .pick({ id: true, threadId: true, createdAt: true, state: true })
    .extend({ type: z.literal("thread") }),
  historyItem.extend({ type: z.literal("message"), thread }),
  runSchema.extend({ type: z.literal("run"), thread }),
]);

/** A record of an export as a line. */
function exportLine(record: ExportedRecord): object {
  if (record.type !== "message") return record;
  const { type, thread: of, message, addresses } = record;
  return { type, thread: of, ...itemOf(message, message.attachments && addresses) };
}

const EXPORT = { method: "GET", scope: "channels" } as const;
const WHOLE =
  "It is sent as fast as it is read, whatever its size; one that ends without its last line break is not whole. In the audit.";

const answers: OperatorEndpoint["answers"] = {
  200: {
    description: "The records",
    headers: {},
    body: {
      type: "application/x-ndjson",
      schema: exportedLine,
      example: {
        type: "message",
        thread: "bkQmzpTqyiWfXH2uJ3dVxw",
        id: "1",
        role: "user",
        content: "Where is my order?",
        createdAt: 1_800_000_000_000,
      },
    },
  },
};

/** GET /v1/operator/channels/:slug/users/:userId/export (contract, Forgetting), …/threads/:id/export: everything stored. */
export function exportRoutes(api: OperatorApi): Route[] {
  return [
    operatorRoute(api, {
      ...EXPORT,
      path: "/channels/:slug/users/:userId/export",
      roles: ["admin"],
      summary: "Export a user",
      description: `Everything that is kept of the user, a record a line: the user, then each thread, oldest first, with its messages and its runs. ${WHOLE}`,
      params: userParam,
      answers,
      refusals: { "not-found": "Unknown channel or user" },
      async handle({ acting, param }) {
        const slug = param("slug");
        const user = await existingUser(api.store, slug, param("userId"));
        return exported(await exportUser(acting, slug, user));
      },
    }),

    operatorRoute(api, {
      ...EXPORT,
      path: "/channels/:slug/threads/:id/export",
      roles: ["admin", "agent"],
      summary: "Export a thread",
      description: `A record a line: the thread, its messages and its runs. ${WHOLE}`,
      params: threadParam,
      answers,
      refusals: { "not-found": "Unknown channel or thread" },
      async handle({ acting, param }) {
        const slug = param("slug");
        const { thread } = await existingChannelThread(api.store, slug, param("id"));
        return exported(await exportThread(acting, slug, thread));
      },
    }),
  ];
}

function exported(records: AsyncGenerator<ExportedRecord>): HttpAnswer {
  return {
    status: 200,
    headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" },
    stream: (outlet) => writePulled(outlet, linesOf(records)),
  };
}

async function* linesOf(records: AsyncGenerator<ExportedRecord>): AsyncGenerator<string> {
  for await (const record of records) yield encodeObjects([exportLine(record)]);
}
