import { z } from "zod";
import { exportThread, exportUser } from "../../operators/export-user.ts";
import type { ExportedRecord } from "../../operators/export-user.ts";
import { answererChangesSchema, noteSchema } from "./desk.ts";
import { historySummaryView } from "../../operators/threads/history-summary.ts";
import { historyItem, messageFile } from "../../protocol/history.ts";
import { channelThread } from "../../protocol/threads.ts";
import { user as userView } from "../../protocol/user.ts";
import type { HttpAnswer } from "../../listener.ts";
import { endpoint } from "../endpoint.ts";
import type { Endpoint } from "../endpoint.ts";
import { itemOf } from "../history-page.ts";
import { encodeObjects } from "../stream/ndjson.ts";
import { writePulled } from "../stream/pull.ts";
import type { OperatorApi } from "./operator-api.ts";
import { existingChannelThread, runSchema } from "./threads.ts";

const thread = z.string().describe("The service's id of its thread");

const exportedLine = z.union([
  userView.extend({ type: z.literal("user") }),
  z.object({
    type: z.literal("signIn"),
    server: z.string().describe("The MCP server's name in the settings"),
  }),
  channelThread
    .pick({ id: true, threadId: true, createdAt: true, state: true })
    .extend({ type: z.literal("thread") }),
  historyItem.extend({ type: z.literal("message"), thread }),
  z.object({
    type: z.literal("file"),
    thread,
    file: messageFile,
    url: z.string().nullable().describe("Its bytes, `data:TYPE;base64,…`; null if they are lost"),
  }),
  historySummaryView.extend({ type: z.literal("summary"), thread }),
  answererChangesSchema
    .omit({ items: true })
    .extend({ type: z.literal("desk"), thread, labels: z.array(z.string()), notes: z.array(noteSchema) }),
  answererChangesSchema.pick({ items: true }).extend({ type: z.literal("handoffs"), thread }),
  runSchema.extend({ type: z.literal("run"), thread }),
]);

/** A record of an export as a line. */
function exportLine(record: ExportedRecord): object {
  if (record.type !== "message") return record;
  const { type, thread: of, message, addresses } = record;
  return { type, thread: of, ...itemOf(message, message.attachments && addresses) };
}

const WHOLE =
  "It is sent as fast as it is read, whatever its size; one that ends without its last line break is not whole. In the audit.";

const answers: Endpoint["answers"] = {
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
export function exportEndpoints({ store, threads }: Pick<OperatorApi, "store" | "threads">) {
  const changesOf = (uid: string) => threads.desk.everyChange(uid);
  return [
    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/users/:userId/export",
      credential: "operatorKey",
      roles: ["admin"],
      finds: "user",
      summary: "Export a user",
      description: `Everything that is kept of the user, a record a line: the user, the MCP servers that they have signed in to (without any token), then each thread, oldest first, with its messages and their files, the summary of a long history, labels and notes of operators, what the visitor left, who answered when, and its runs. ${WHOLE}`,
      answers,
      handle: async ({ acting, params, user }) =>
        exported(await exportUser(acting, params.slug, user, changesOf)),
    }),

    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/threads/:id/export",
      credential: "operatorKey",
      roles: ["admin", "agent"],
      summary: "Export a thread",
      description: `A record a line: the thread, its messages and their files, the summary of a long history, labels and notes of operators, what the visitor left, who answered when, and its runs. ${WHOLE}`,
      answers,
      refusals: { "not-found": "Unknown channel or thread" },
      async handle({ acting, params: { slug, id } }) {
        const { thread: entry } = await existingChannelThread(store, slug, id);
        return exported(await exportThread(acting, slug, entry, changesOf));
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
