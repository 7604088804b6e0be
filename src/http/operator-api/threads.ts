import { fieldsOf } from "../reference/documentation.ts";
import { z } from "zod";
import { answererView } from "../../operators/answerer.ts";
import { channelThreadView, listChannelThreads, THREAD_STATES } from "../../operators/channel-threads.ts";
import { noteReading, readRuns } from "../../operators/threads.ts";
import { queryOf } from "../body.ts";
import { EXAMPLE_PAGE, historyAnswer, historyPage, pageFields } from "../history-page.ts";
import { widgetLine } from "../reference/line-schemas.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Field, Route } from "../route.ts";
import { sinceField, unixMs } from "./audit.ts";
import { existingChannel, existingChannelThread, existingThread, existingUser } from "./existing.ts";
import { documentedList, limitText, listAnswer, listFields, listingOf } from "./lists.ts";
import { EVERY_ROLE, operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";

export const runSchema = z.object({
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

export const threadSchema = z.object({
  id: z.string().describe("The service's own id"),
  threadId: z.string().describe("The caller's id, or the widget's"),
  userId: z.string().describe("The service's id of the user"),
  state: z.enum(THREAD_STATES),
  createdAt: z.int().describe("Unix time in milliseconds"),
  updatedAt: z
    .int()
    .describe("When a message came into the history last, or, of an empty thread, when it was made"),
  epoch: z.int().describe("Counts the changes of who answers"),
  handoff: z
    .object({
      askedBy: z.enum(["model", "visitor", "transport"]).nullable(),
      waitingSince: z.int().optional().describe("Unix time in milliseconds; only while the thread waits"),
      with: z.string().optional().describe("The operator who has the thread"),
      reason: z.string().optional().describe("Of one thread alone, and not for the auditor"),
      summary: z.string().optional().describe("The model's; of one thread alone, and not for the auditor"),
    })
    .optional()
    .describe("Only while a person is waited for or has the thread"),
});

const oneThreadSchema = threadSchema.extend({
  messages: z.int().describe("How many the history holds"),
});

export const EXAMPLE_THREAD = {
  id: "bkQmzpTqyiWfXH2uJ3dVxw",
  threadId: "order-1001",
  userId: "8Zk3x0T5RrOeS3o1m1yq6g",
  state: "idle",
  createdAt: 1_800_000_000_000,
  updatedAt: 1_800_000_002_000,
  epoch: 0,
};

const listQuery = z.object({
  state: z.enum(THREAD_STATES).nullable().default(null),
  userId: z.string().nullable().default(null),
  since: unixMs.default(0),
  until: unixMs.default(Infinity),
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
  refusals: { "not-found": "Unknown channel or thread" },
} as const;

/** GET /v1/operator/channels/:slug/threads, …/:id: the threads, without texts. */
function listRoutes(api: OperatorApi): Route[] {
  const { store } = api;
  return [
    operatorRoute(api, {
      method: "GET",
      path: "/channels/:slug/threads",
      roles: EVERY_ROLE,
      scope: "channels",
      summary: "List a channel's threads",
      description:
        "The latest activity first, right within 5 s. With `state` or `userId` a page may hold fewer than `limit`, even none, and have a next one.",
      query: {
        ...listFields,
        state: {
          description: "Only those in this state",
          schema: z.enum(THREAD_STATES),
          required: false,
          example: "awaiting",
        },
        userId: {
          description: "Only those of this user: the service's id, or the caller's",
          schema: z.string(),
          required: false,
          example: "account-7",
        },
        since: { ...sinceField, description: "Only those active then or later: Unix time in milliseconds" },
        until: { ...sinceField, description: "Only those active then or before: Unix time in milliseconds" },
      },
      answers: { 200: documentedList("The threads", threadSchema, EXAMPLE_THREAD) },
      refusals: { "not-found": "Unknown channel or user" },
      async handle({ incoming, param }) {
        const { query, ...page } = listingOf(incoming, "threads", listQuery);
        const { state, since: sinceMs, until: untilMs } = query;
        const { slug } = await existingChannel(store, param("slug"));
        const userId = query.userId === null ? null : (await existingUser(store, slug, query.userId)).userId;
        const found = await listChannelThreads(store, slug, page, { state, userId, sinceMs, untilMs });
        return listAnswer("threads", found.items.map(channelThreadView), found.next);
      },
    }),

    operatorRoute(api, {
      method: "GET",
      path: "/channels/:slug/threads/:id",
      roles: EVERY_ROLE,
      scope: "channels",
      summary: "Show a thread",
      description:
        "Whose it is and how it stands. What was said of a hand-off, its reason and summary, is the only text; the reading of that is in the audit.",
      params: threadParam,
      answers: {
        200: documentedJson("The thread", oneThreadSchema, { ...EXAMPLE_THREAD, messages: 4 }),
      },
      refusals: { "not-found": "Unknown channel or thread" },
      async handle({ acting, param, operator }) {
        const { thread, messageCount } = await existingChannelThread(store, param("slug"), param("id"));
        const answerer = answererView(thread.snapshot, { seesText: operator.role !== "auditor" });
        const { reason, summary } = answerer.handoff ?? {};
        if (reason !== undefined || summary !== undefined)
          await noteReading(acting, param("slug"), thread.uid);
        return jsonAnswer(200, { ...channelThreadView(thread), ...answerer, messages: messageCount });
      },
    }),
  ];
}

/**
 * GET /v1/operator/channels/:slug/threads, …/:id; …/:id/messages and …/runs: the texts. Each read is written to the
 * audit first.
 */
export function threadsRoutes(api: OperatorApi): Route[] {
  const { store } = api;
  return [
    ...listRoutes(api),

    operatorRoute(api, {
      ...READ,
      path: "/channels/:slug/threads/:id/messages",
      summary: "Read a thread's history",
      description:
        "The last messages, oldest first: fewer than `limit` where they are long; the first of all has the id 1. The reading is in the audit.",
      query: { limit: listFields.limit, ...fieldsOf({ before: pageFields.before }) },
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
