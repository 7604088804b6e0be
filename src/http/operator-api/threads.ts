import type { ChannelThread, Store } from "../../store.ts";
import { endpoint, ifGiven } from "../endpoint.ts";
import { z } from "zod";
import { Refusal } from "../../domain/refusal.ts";
import { answererView, readThread } from "../../operators/threads/answerer.ts";
import {
  channelThreadView,
  listChannelThreads,
  readersThreadView,
} from "../../operators/threads/channel-threads.ts";
import { note } from "../../operators/acting.ts";
import { readHeadline } from "../../operators/threads/headline.ts";
import { deleteThread } from "../../operators/forgetting.ts";
import { historySummaryView, viewOfSummary } from "../../operators/threads/history-summary.ts";
import { searchThreads, wordsOf } from "../../operators/threads/search-threads.ts";
import { noteReading, readRuns } from "../../operators/threads/threads.ts";
import { historyPage } from "../../protocol/history.ts";
import { widgetLine } from "../../protocol/lines.ts";
import { channelThread, threadState } from "../../protocol/threads.ts";
import { branchesField, EXAMPLE_PAGE, historyAnswer, historyQuery, pageFields } from "../history-page.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { existingChannel, existingUser, orUnavailable } from "./admit.ts";
import { ANSWERING_FILE, answerFile } from "../files/file-endpoint.ts";
import { timeField } from "./audit.ts";
import { documentedList, listAnswer, listFields, listLimit } from "./lists.ts";
import type { OperatorRole } from "../../domain/people/operator.ts";
import { EVERY_ROLE } from "./operator-api.ts";
import type { OperatorApi } from "./operator-api.ts";

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

const oneThreadSchema = channelThread.extend({
  messages: z.int().describe("How many the history holds"),
  summary: historySummaryView
    .exactOptional()
    .describe("Of the beginning of a long history, which the model is sent in its place"),
});

export const EXAMPLE_THREAD = {
  id: "bkQmzpTqyiWfXH2uJ3dVxw",
  threadId: "order-1001",
  userId: "8Zk3x0T5RrOeS3o1m1yq6g",
  state: "idle",
  createdAt: 1_800_000_000_000,
  updatedAt: 1_800_000_002_000,
  epoch: 0,
  title: "Where is my parcel?",
  preview: "It is on its way: you have it on Tuesday.",
  displayName: "Ada",
  page: "/orders/1001",
  labels: ["delivery"],
};

const READ = {
  method: "GET",
  credential: "operatorKey",
  roles: ["admin", "agent"],
  finds: "thread",
} as const;

/**
 * GET /v1/operator/channels/:slug/threads; GET, DELETE …/:id; GET …/:id/messages, …/runs. Each read of a text is written to the
 * audit first.
 */
export function threadsEndpoints({
  store,
  threads,
  reads,
  clock,
  config,
}: Pick<OperatorApi, "store" | "threads" | "reads" | "clock" | "config">) {
  /** With what its texts say, for who may read them. */
  async function shown(thread: ChannelThread, slug: string, { role }: { role: OperatorRole }) {
    if (role === "auditor") return channelThreadView(thread);
    return readersThreadView(thread, await readHeadline(store, slug, thread, clock.now()));
  }

  return [
    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/threads",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      finds: "channel",
      summary: "List a channel's threads",
      description:
        "The latest activity first, right within 5 s. For roles that may read texts each has its first and last line, its user's name and its labels. With `state` or `userId` a page may hold fewer than `limit`, even none, and have a next one.",
      query: {
        ...listFields("threads"),
        state: {
          description: "Only those in this state",
          ...ifGiven(threadState),
          example: "awaiting",
        },
        queue: {
          description:
            "Only those that wait for, or are with, an operator of this queue; not for the auditor",
          example: "returns",
        },
        q: {
          description:
            "Only those in which one message has all these words; not for the auditor, and not where CONTENT_KEYS encrypts what is said. A page may have none, and a next one. The reading is in the audit",
          example: "refund mug",
        },
        userId: {
          description: "Only those of this user: the service's id, or the caller's",
          example: "account-7",
        },
        since: timeField("Only those active then or later", 0),
        until: timeField("Only those active then or before", Infinity),
      },
      answers: { 200: documentedList("The threads", channelThread, EXAMPLE_THREAD) },
      refusals: { "not-found": "Unknown channel or user" },
      async handle({ acting, channel: { slug }, query, caller }) {
        const { limit, cursor: after, state, queue, since: sinceMs, until: untilMs } = query;
        const userId = query.userId === null ? null : (await existingUser(store, slug, query.userId)).userId;
        const filter = { state, queue, userId, sinceMs, untilMs };
        const words = wordsOf(query.q ?? "");
        if (caller.role === "auditor" && (words.length > 0 || queue !== null)) throw new Refusal("forbidden");
        if (words.length > 0) {
          if (config.contentKeys?.seals === true)
            throw new Refusal("invalid", "q: what is said is encrypted here, and cannot be searched");
          await note(acting, { action: "threads.search", target: slug, slug });
          const page = await orUnavailable(
            searchThreads(store, slug, { limit, after }, { ...filter, words }),
          );
          const items = await Promise.all(
            page.items.map(async ({ found, ...thread }) => ({
              ...(await shown(thread, slug, caller)),
              found,
            })),
          );
          return listAnswer("threads", items, page.next);
        }
        const found = await listChannelThreads(store, slug, { limit, after }, filter);
        const items = await Promise.all(found.items.map((thread) => shown(thread, slug, caller)));
        return listAnswer("threads", items, found.next);
      },
    }),

    endpoint({
      method: "GET",
      path: "/v1/operator/channels/:slug/threads/:id",
      credential: "operatorKey",
      roles: EVERY_ROLE,
      summary: "Show a thread",
      description:
        "Whose it is and how it stands. What was said of a hand-off, its reason and summary, and the summary of a long history are the only texts; the reading of them is in the audit.",
      answers: {
        200: documentedJson("The thread", oneThreadSchema, { ...EXAMPLE_THREAD, messages: 4 }),
      },
      async handle({ acting, params: { slug, id }, caller }) {
        const { thread, messageCount } = await existingChannelThread(store, slug, id);
        const seesText = caller.role !== "auditor";
        const answerer = answererView(readThread(thread.snapshot), { seesText });
        const kept = await orUnavailable(store.historySummary(thread.uid));
        const { reason, summary = seesText ? kept?.text : undefined } = answerer.handoff ?? {};
        if (reason !== undefined || summary !== undefined) await noteReading(acting, slug, thread.uid);
        return jsonAnswer(200, {
          ...(await shown(thread, slug, caller)),
          ...answerer,
          messages: messageCount,
          ...(kept && { summary: viewOfSummary(kept, { seesText }) }),
        });
      },
    }),

    endpoint({
      method: "DELETE",
      path: "/v1/operator/channels/:slug/threads/:id",
      credential: "operatorKey",
      roles: ["admin"],
      finds: "thread",
      summary: "Delete a thread",
      description:
        "With everything in it, for good: from now on it is 404, and nothing that is on its way brings it back. A run ends, and its streams with an error line of code deleted. Its texts leave the store within 60 seconds. In the audit, without content.",
      answers: { 202: "It is deleted" },
      async handle({ acting, thread: { slug, uid } }) {
        await deleteThread(acting, threads.forgetting, slug, uid);
        return emptyAnswer(202);
      },
    }),

    endpoint({
      ...READ,
      path: "/v1/operator/channels/:slug/threads/:id/messages",
      summary: "Read a thread's history",
      description:
        "The last messages, oldest first: fewer than `limit` where they are long; the first of all has the id 1. The reading is in the audit.",
      query: { limit: listLimit, before: pageFields.before, ...branchesField },
      answers: { 200: documentedJson("The messages", historyPage, EXAMPLE_PAGE) },
      async handle({ acting, thread: { slug, uid }, query }) {
        await noteReading(acting, slug, uid);
        return historyAnswer({ threads, reads }, uid, historyQuery(query));
      },
    }),

    endpoint({
      ...READ,
      ...ANSWERING_FILE,
      path: "/v1/operator/channels/:slug/threads/:id/files/:fileId",
      description: `${ANSWERING_FILE.description} The reading is in the audit.`,
      async handle({ acting, thread: { slug, uid }, params }) {
        await noteReading(acting, slug, uid);
        return answerFile(threads, uid, params.fileId);
      },
    }),

    endpoint({
      ...READ,
      path: "/v1/operator/channels/:slug/threads/:id/runs",
      summary: "Read a thread's runs",
      description:
        "The newest, oldest first: how each went through the chart, and its last line. The reading is in the audit.",
      query: { limit: listLimit },
      answers: {
        200: documentedList("The runs", runSchema, {
          id: "b3Q0dGhlcnJ1bm9mdGhpcw",
          saidAt: 1_800_000_000_000,
          outcome: "done",
          terminal: { type: "done", elapsedMs: 1_266 },
          path: [{ atMs: 1_800_000_000_000, event: "user.said", state: "running.thinking", said: [] }],
        }),
      },
      async handle({ acting, thread, query: { limit } }) {
        return jsonAnswer(200, { items: await readRuns(acting, { ...thread, limit }), next: null });
      },
    }),
  ];
}

/** A thread of this channel, and its owner. Throws Refusal("not-found"). */
export async function existingChannelThread(
  store: Pick<Store, "channel" | "channelThread" | "look">,
  slug: string,
  uid: string,
): Promise<{ thread: ChannelThread; messageCount: number }> {
  await existingChannel(store, slug);
  const [thread, look] = await orUnavailable(
    Promise.all([store.channelThread(slug, uid), store.look(uid, null)]),
  );
  if (thread === null) throw new Refusal("not-found", "Unknown thread");
  return { thread, messageCount: look.messageCount };
}
