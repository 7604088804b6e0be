import { z } from "zod";
import { noteReading, readRuns } from "../../operators/threads.ts";
import { queryOf } from "../body.ts";
import { EXAMPLE_PAGE, historyAnswer, historyPage, pageFields } from "../history-page.ts";
import { widgetLine } from "../reference/line-schemas.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Field, Route } from "../route.ts";
import { existingThread } from "./existing.ts";
import { documentedList, limitText, listFields } from "./lists.ts";
import { operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";

const runSchema = z.object({
  id: z.string(),
  saidAt: z.int().describe("When its message came: Unix time in milliseconds"),
  outcome: z
    .enum(["done", "failed", "cancelled", "expired", "superseded"])
    .nullable()
    .describe("null: active"),
  terminal: widgetLine.nullable().describe("The last line of its stream; null: none yet"),
  path: z.array(
    z.object({ atMs: z.number(), event: z.string(), state: z.string(), said: z.array(z.string()) }),
  ),
});

const messagesQuery = z.object({ limit: limitText, before: z.string().nullable().default(null) });
export const threadParam: Record<string, Field> = {
  id: {
    description: "The service's id of the thread",
    schema: z.string(),
    required: true,
    example: "bkQmzpTqyiWfXH2uJ3dVxw",
  },
};

const READ = {
  method: "GET",
  roles: ["admin", "agent"],
  scope: "channels",
  params: threadParam,
  refusals: { "not-found": "Unknown channel or thread, or nothing was said in it yet" },
} as const;

/** GET /v1/operator/channels/:slug/threads/:id/messages and …/runs: what was said. Each reading is in the audit first. */
export function threadsRoutes(api: OperatorApi): Route[] {
  const { store } = api;
  return [
    operatorRoute(api, {
      ...READ,
      path: "/channels/:slug/threads/:id/messages",
      summary: "Read a thread's history",
      description:
        "The last messages, oldest first: fewer than `limit` where they are long; the first of all has the id 1. The reading is in the audit.",
      query: { limit: listFields.limit, before: pageFields.before },
      answers: { 200: documentedJson("The messages", historyPage, EXAMPLE_PAGE) },
      async handle({ incoming, acting, param }) {
        const query = queryOf(incoming.request, messagesQuery);
        const uid = await existingThread(store, param("slug"), param("id"));
        await noteReading(acting, param("slug"), uid);
        return historyAnswer(api, uid, query);
      },
    }),

    operatorRoute(api, {
      ...READ,
      path: "/channels/:slug/threads/:id/runs",
      summary: "Read a thread's runs",
      description:
        "The newest, oldest first: how each went through the chart, and its last line. The reading is in the audit.",
      query: { limit: listFields.limit },
      answers: {
        200: documentedList("The runs", runSchema, {
          id: "b3Q0dGhlcnJ1bm9mdGhpcw",
          saidAt: 1_800_000_000_000,
          outcome: "done",
          terminal: { type: "done", elapsedMs: 1_266 },
          path: [{ atMs: 1_800_000_000_000, event: "user.said", state: "running.thinking", said: [] }],
        }),
      },
      async handle({ incoming, acting, param }) {
        const { limit } = queryOf(incoming.request, z.object({ limit: limitText }));
        const slug = param("slug");
        const uid = await existingThread(store, slug, param("id"));
        return jsonAnswer(200, { items: await readRuns(acting, { slug, uid, limit }), next: null });
      },
    }),
  ];
}
