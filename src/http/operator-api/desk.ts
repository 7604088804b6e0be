import { z } from "zod";
import { MOST_LABELS } from "../../domain/threads/desk.ts";
import { Refusal } from "../../domain/refusal.ts";
import { answererChangeView } from "../../operators/threads/answerer.ts";
import { addNote, noteView, ratingView, readNotes, setLabels, snooze } from "../../operators/threads/desk.ts";
import { draftAnswer } from "../../operators/threads/draft-answer.ts";
import { draftLine } from "../../protocol/draft.ts";
import { noteReading } from "../../operators/threads/threads.ts";
import { historyCharsOf } from "../../threads/thread-limits.ts";
import { endpoint } from "../endpoint.ts";
import { FEED_HEADERS } from "../feeds/feed-answer.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { encodeObjects } from "../stream/ndjson.ts";
import { orUnavailable } from "./admit.ts";
import { existingChannelThread } from "./threads.ts";
import type { OperatorApi } from "./operator-api.ts";

const MOST_SNOOZED_MS = 366 * 86_400_000;

const labels = z.array(z.string().trim().min(1).max(50)).max(MOST_LABELS);
const labelsSchema = z.object({
  labels: labels
    .refine((labels) => new Set(labels).size === labels.length, "the labels must differ")
    .describe("In the place of those that it has; empty: none"),
});
const until = z
  .int()
  .nullable()
  .describe(
    "Unix time in milliseconds, at most a year ahead: out of the inbox until then, or until the next message; null: back in it",
  );
const snoozeSchema = z.object({ until });
const bulkSchema = z.object({
  ids: z.array(z.string().min(1).max(64)).min(1).max(100),
  addLabels: labels.exactOptional(),
  removeLabels: labels.exactOptional(),
  snoozeUntil: until.exactOptional(),
});
const bulkAnswer = z.object({
  failed: z
    .array(z.object({ id: z.string(), message: z.string() }))
    .describe("Those that stayed as they were"),
});
const textSchema = z.object({ text: z.string().trim().min(1).max(4_000) });
export const noteSchema = z.object({
  id: z.string(),
  by: z.string().describe("The operator's name"),
  text: z.string(),
  at: z.int().describe("Unix time in milliseconds"),
});

const at = z.int().describe("Unix time in milliseconds");
export const answererChangesSchema = z.object({
  items: z.array(
    z.object({
      at,
      how: z.string().describe("asked, cancelled, expired, taken, unanswered, queued, returned or closed"),
      by: z.string().exactOptional().describe("The operator who took the thread, or had it"),
      shownAs: z.string().exactOptional().describe("What visitors call that operator; without it: by name"),
      queue: z.string().exactOptional(),
      reason: z.string().exactOptional().describe("Why a person was asked for"),
    }),
  ),
  ratings: z.array(
    z.object({
      at,
      score: z.int().describe("From 1, bad, to 5, good"),
      comment: z.string().exactOptional(),
      by: z.string().exactOptional().describe("The operator who ended the hand-off"),
      queue: z.string().exactOptional(),
    }),
  ),
  address: z.string().exactOptional().describe("Where the visitor can be written to"),
});

const BULK = { credential: "operatorKey", roles: ["admin", "agent"], finds: "channel" } as const;
const DESK = { credential: "operatorKey", roles: ["admin", "agent"], finds: "thread" } as const;

/**
 * POST, GET /v1/operator/channels/:slug/threads/:id/notes; PUT …/labels; POST …/snooze: what operators keep for themselves.
 * POST …/draft: what the assistant would answer.
 */
export function deskEndpoints({
  threads: { desk },
  store,
  clock,
  agent,
  config,
  log,
}: Pick<OperatorApi, "threads" | "store" | "clock" | "agent" | "config" | "log">) {
  function mustBeAhead(until: number | null): void {
    const nowMs = clock.now();
    if (until !== null && (until <= nowMs || until > nowMs + MOST_SNOOZED_MS))
      throw new Refusal("invalid", "until is not ahead, or more than a year");
  }

  return [
    endpoint({
      ...DESK,
      method: "GET",
      path: "/v1/operator/channels/:slug/threads/:id/handoffs",
      summary: "Read who answered when",
      description:
        "The changes of who answers, oldest first, the newest 100; what the visitor thinks of them, and the address that they left. The reading is in the audit.",
      answers: {
        200: documentedJson("The changes", answererChangesSchema, {
          items: [
            { at: 1_800_000_000_000, how: "asked", reason: "A refund" },
            { at: 1_800_000_060_000, how: "taken", by: "kim" },
          ],
          ratings: [{ at: 1_800_000_900_000, score: 5, comment: "Quick!", by: "kim" }],
          address: "ada@example.com",
        }),
      },
      async handle({ acting, thread: { slug, uid } }) {
        await noteReading(acting, slug, uid);
        const [changes, kept] = await orUnavailable(Promise.all([desk.changes(uid), store.desk(uid)]));
        return jsonAnswer(200, {
          items: changes.map(answererChangeView),
          ratings: (kept.ratings ?? []).map(ratingView),
          ...(kept.address === undefined ? {} : { address: kept.address }),
        });
      },
    }),

    endpoint({
      ...BULK,
      method: "POST",
      path: "/v1/operator/channels/:slug/threads/bulk",
      summary: "Label or snooze many threads",
      description:
        "Each on its own: the answer says of which it could not be done. In the audit, one entry each.",
      body: {
        schema: bulkSchema,
        example: { ids: ["bkQmzpTqyiWfXH2uJ3dVxw"], addLabels: ["refund"] },
      },
      answers: { 200: documentedJson("What became of each", bulkAnswer, { failed: [] }) },
      async handle({ acting, channel: { slug }, body }) {
        const { ids, addLabels = [], removeLabels = [], snoozeUntil } = body;
        mustBeAhead(snoozeUntil ?? null);
        const failed: { id: string; message: string }[] = [];
        for (const uid of new Set(ids)) {
          try {
            await existingChannelThread(store, slug, uid);
            const on = { uid, slug };
            if (addLabels.length + removeLabels.length > 0) {
              const kept = (labels: readonly string[]) => labels.filter((one) => !removeLabels.includes(one));
              await setLabels(acting, desk.keep, on, (labels) => [
                ...new Set([...kept(labels), ...addLabels]),
              ]);
            }
            if (snoozeUntil !== undefined) await snooze(acting, desk.keep, on, snoozeUntil);
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
            failed.push({ id: uid, message: error.text });
          }
        }
        return jsonAnswer(200, { failed });
      },
    }),

    endpoint({
      ...DESK,
      method: "POST",
      path: "/v1/operator/channels/:slug/threads/:id/notes",
      summary: "Note something for colleagues",
      description:
        "No visitor or model is told of it, and no webhook that does not name `note.created`. It is exported and deleted with its thread. In the audit, without the text.",
      body: { schema: textSchema, example: { text: "Known for returns: ask for the order number first" } },
      answers: { 201: documentedJson("The note's id", z.object({ id: z.string() }), { id: "1" }) },
      refusals: { conflict: "The thread has as many notes as it may have, 200" },
      handle: async ({ acting, thread, body }) =>
        jsonAnswer(201, { id: await addNote(acting, desk.keep, thread, body.text) }),
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
        await setLabels(acting, desk.keep, thread, () => body.labels);
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
        mustBeAhead(until);
        await snooze(acting, desk.keep, thread, until);
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
