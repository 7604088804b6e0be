import { z } from "zod";
import { endedLast, ratingOf } from "../../threads/desk/desk.ts";
import type { Directory } from "../../admission/directory.ts";
import type { AnswererChange } from "../../domain/threads/answerer-change.ts";
import { handoffRating, handoffs } from "../../protocol/handoffs.ts";
import type { HandoffChange, Handoffs } from "../../protocol/handoffs.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Store } from "../../store.ts";
import type { Threads } from "../../threads/threads.ts";
import { endpoint } from "../endpoint.ts";
import { handOffReason, mustAllowHandOff } from "../fields.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";

const VISITOR = { credential: "visitorToken", finds: "thread" } as const;

const addressSchema = z.object({
  address: z.email().max(254).describe("Where the visitor can be written to"),
  reason: handOffReason,
});

const shownSchema = z.object({
  messageId: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/)
    .describe("The newest item of the history that the page has shown"),
});

/** The thread is the visitor's: if it has no record, nothing was said in it. */
async function beside(keeping: Promise<void>): Promise<void> {
  try {
    await keeping;
  } catch (error) {
    if (!(error instanceof Refusal && error.reason === "not-found")) throw error;
    throw new Refusal("conflict", "Nothing was said in the thread yet");
  }
}

/** GET /v1/widget/threads/:id/handoffs; POST …/address, …/rating, …/shown: what a visitor is told of people, and leaves for them. */
export function visitorDesk({
  threads: { desk },
  store,
  directory,
}: {
  threads: Pick<Threads, "desk">;
  store: Pick<Store, "desk">;
  directory: Pick<Directory, "channel" | "operatorNamed">;
}) {
  function shownChange({ atMs, how, by, shownAs }: AnswererChange): HandoffChange {
    const picture = by === undefined ? undefined : directory.operatorNamed(by)?.picture;
    return {
      at: atMs,
      how,
      ...(by === undefined ? {} : { name: shownAs ?? by }),
      ...(picture === undefined ? {} : { picture }),
    };
  }

  return [
    endpoint({
      ...VISITOR,
      method: "GET",
      path: "/v1/widget/threads/:id/handoffs",
      rate: "reads",
      summary: "Read who answered when",
      description:
        "The changes of who answers, oldest first, the newest 100: asked, taken, given back, closed. And what the visitor left, or may say of it.",
      answers: {
        200: documentedJson("The changes", handoffs, {
          items: [
            { at: 1_800_000_000_000, how: "asked" },
            { at: 1_800_000_060_000, how: "taken", name: "Kim" },
            { at: 1_800_000_600_000, how: "closed", name: "Kim" },
          ],
          rating: null,
        }),
      },
      async handle({ caller: { slug }, thread: { uid } }) {
        const [changes, kept] = await Promise.all([desk.changes(uid), store.desk(uid)]);
        const ended = endedLast(changes);
        const rated = ratingOf(kept, ended);
        const asks = ended !== null && directory.channel(slug)?.handoff?.rating !== false;
        const { score = 0, comment } = rated ?? {};
        const answer: Handoffs = {
          items: changes.map(shownChange),
          ...(kept.address === undefined ? {} : { address: kept.address }),
          ...(asks ? { rating: rated && { score, ...(comment === undefined ? {} : { comment }) } } : {}),
        };
        return jsonAnswer(200, answer);
      },
    }),

    endpoint({
      ...VISITOR,
      method: "POST",
      path: "/v1/widget/threads/:id/address",
      rate: "messages",
      summary: "Leave an address",
      description:
        "Where the visitor can be written to, since nobody is there: operators see it, and webhooks are told with `handoff.missed`. It replaces the former one.",
      body: { schema: addressSchema, example: { address: "ada@example.com", reason: "A refund" } },
      answers: { 204: "It is kept" },
      refusals: { conflict: "The channel has no hand-off, or nothing was said in the thread yet" },
      async handle({ caller: { slug }, thread: { uid }, body: { address, reason = null } }) {
        mustAllowHandOff(directory.channel(slug));
        await beside(desk.leaveAddress({ uid, slug }, { address, reason }));
        return emptyAnswer(204);
      },
    }),

    endpoint({
      ...VISITOR,
      method: "POST",
      path: "/v1/widget/threads/:id/rating",
      rate: "ratings",
      summary: "Rate how a person helped",
      description: "Of the hand-off that ended last. Again: it replaces the former rating.",
      body: { schema: handoffRating, example: { score: 5, comment: "Quick!" } },
      answers: { 204: "It is kept" },
      refusals: { conflict: "No person has ended a hand-off here" },
      async handle({ caller: { slug }, thread: { uid }, body: { score, comment = "" } }) {
        const said = comment.trim() === "" ? { score } : { score, comment };
        await desk.rate({ uid, slug }, said);
        return emptyAnswer(204);
      },
    }),

    endpoint({
      ...VISITOR,
      method: "POST",
      path: "/v1/widget/threads/:id/shown",
      rate: "ratings",
      summary: "Say what a page has shown",
      description:
        "Only of use where a webhook is told of unread replies: a reply up to this item is not told as `reply.unread`.",
      body: { schema: shownSchema, example: { messageId: "4" } },
      answers: { 204: "It is noted" },
      refusals: { conflict: "Nothing was said in the thread yet" },
      async handle({ caller: { slug }, thread: { uid }, body: { messageId } }) {
        await beside(desk.shown({ uid, slug }, Number(messageId)));
        return emptyAnswer(204);
      },
    }),
  ];
}
