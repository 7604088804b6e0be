import { z } from "zod";
import { Refusal } from "../../domain/refusal.ts";
import { addNote, noteView, readNotes, setLabels, snooze } from "../../operators/threads/desk.ts";
import { draftAnswer } from "../../operators/threads/draft-answer.ts";
import { draftLine } from "../../protocol/draft.ts";
import { historyCharsOf } from "../../threads/thread-limits.ts";
import { endpoint } from "../endpoint.ts";
import { FEED_HEADERS } from "../feeds/feed-answer.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { encodeObjects } from "../stream/ndjson.ts";
import { orUnavailable } from "./admit.ts";
import type { OperatorApi } from "./operator-api.ts";

const MOST_SNOOZED_MS = 366 * 86_400_000;

const labelsSchema = z.object({
  labels: z
    .array(z.string().trim().min(1).max(50))
    .max(20)
    .refine((labels) => new Set(labels).size === labels.length, "the labels must differ")
    .describe("In the place of those that it has; empty: none"),
});
const snoozeSchema = z.object({
  until: z
    .int()
    .nullable()
    .describe(
      "Unix time in milliseconds, at most a year ahead: out of the inbox until then, or until the next message; null: back in it",
    ),
});
const textSchema = z.object({ text: z.string().trim().min(1).max(4_000) });
export const noteSchema = z.object({
  id: z.string(),
  by: z.string().describe("The operator's name"),
  text: z.string(),
  at: z.int().describe("Unix time in milliseconds"),
});

const DESK = { credential: "operatorKey", roles: ["admin", "agent"], finds: "thread" } as const;

/**
 * POST, GET /v1/operator/channels/:slug/threads/:id/notes; PUT …/labels; POST …/snooze: what operators keep for themselves.
 * POST …/draft: what the assistant would answer.
 */
export function deskEndpoints({
  clock,
  agent,
  config,
  log,
}: Pick<OperatorApi, "clock" | "agent" | "config" | "log">) {
  return [
    endpoint({
      ...DESK,
      method: "POST",
      path: "/v1/operator/channels/:slug/threads/:id/notes",
      summary: "Note something for colleagues",
      description:
        "No visitor, model or webhook is told of it. It is exported and deleted with its thread. In the audit, without the text.",
      body: { schema: textSchema, example: { text: "Known for returns: ask for the order number first" } },
      answers: { 201: documentedJson("The note's id", z.object({ id: z.string() }), { id: "1" }) },
      refusals: { conflict: "The thread has as many notes as it may have, 200" },
      handle: async ({ acting, thread, body }) =>
        jsonAnswer(201, { id: await addNote(acting, thread, body.text) }),
    }),

    endpoint({
      ...DESK,
      method: "GET",
      path: "/v1/operator/channels/:slug/threads/:id/notes",
      summary: "Read a thread's notes",
      description: "All of them, oldest first. The reading is in the audit.",
      answers: {
        200: documentedJson("The notes", z.object({ items: z.array(noteSchema) }), {
          items: [{ id: "1", by: "kim", text: "Known for returns", at: 1_800_000_000_000 }],
        }),
      },
      handle: async ({ acting, thread }) =>
        jsonAnswer(200, { items: (await readNotes(acting, thread)).map(noteView) }),
    }),

    endpoint({
      ...DESK,
      method: "PUT",
      path: "/v1/operator/channels/:slug/threads/:id/labels",
      summary: "Label a thread",
      description: "Shown in lists. In the audit, without the labels.",
      body: { schema: labelsSchema, example: { labels: ["refund"] } },
      answers: { 204: "They are set" },
      async handle({ acting, thread, body }) {
        await setLabels(acting, thread, body.labels);
        return emptyAnswer(204);
      },
    }),

    endpoint({
      ...DESK,
      method: "POST",
      path: "/v1/operator/channels/:slug/threads/:id/snooze",
      summary: "Snooze a thread",
      description: "Lists say so; who answers does not change. In the audit.",
      body: { schema: snoozeSchema, example: { until: 1_800_000_000_000 } },
      answers: { 204: "It is out of the inbox, or back in it" },
      async handle({ acting, thread, body: { until } }) {
        const nowMs = clock.now();
        if (until !== null && (until <= nowMs || until > nowMs + MOST_SNOOZED_MS))
          throw new Refusal("invalid", "until is not ahead, or more than a year");
        await snooze(acting, thread, until);
        return emptyAnswer(204);
      },
    }),

    endpoint({
      ...DESK,
      method: "POST",
      path: "/v1/operator/channels/:slug/threads/:id/draft",
      summary: "Draft an answer",
      description:
        "What the assistant would answer to what the user has written since somebody answered, without any tool: for a person to change and send. Nobody is told, and nothing is stored. Its tokens count in the channel's and the user's caps. The reading is in the audit. No body.",
      answers: {
        200: {
          description: "Lines as of a reply: the text, then done or error",
          headers: {},
          body: {
            type: "application/x-ndjson",
            schema: draftLine,
            example: { type: "delta", text: "Hello" },
          },
        },
      },
      refusals: { conflict: "Nothing waits for an answer" },
      async handle({ acting, thread }) {
        if (!agent) throw new Refusal("unavailable", "Nothing is drafted here");
        const draft = await orUnavailable(
          draftAnswer(acting, thread, { agent, budgetChars: historyCharsOf(config) }),
        );
        return {
          status: 200,
          headers: FEED_HEADERS,
          stream(outlet) {
            const left = new AbortController();
            outlet.onGone(() => left.abort());
            void draft
              .write((line) => outlet.write(encodeObjects([line])), left.signal)
              .catch((error: unknown) => log.warn({ err: error }, "cannot draft an answer"))
              .then(() => left.signal.aborted || outlet.end());
          },
        };
      },
    }),
  ];
}
