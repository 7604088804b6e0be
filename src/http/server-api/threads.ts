import type { Threads } from "../../threads/threads.ts";
import type { Clock } from "../../clock.ts";
import type { Directory } from "../../admission/directory.ts";
import { endpoint } from "../endpoint.ts";
import {
  commentMustFit,
  decisionBody,
  EXAMPLE_DECISION,
  feedbackBody,
  givenBy,
  handOffQueue,
  handOffReason,
  mustHavePeople,
  NOT_WAITING,
} from "../fields.ts";
import { documentedFeed, feedAnswer, feedFields } from "../feeds/feed-answer.ts";
import { branchesField, EXAMPLE_PAGE, historyAnswer, historyQuery, pageFields } from "../history-page.ts";
import type { Reads } from "../reads.ts";
import { historyPage } from "../../protocol/history.ts";
import { widgetLine } from "../../protocol/lines.ts";
import { threadPage } from "../../protocol/threads.ts";
import { documentedJson, documentedLines } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { followAnswer, runField } from "../stream/follow-answer.ts";
import { EXAMPLE_THREADS, threadPageOf, threadsFields } from "../thread-page.ts";
import { owner } from "./admit.ts";

const feedbackSchema = feedbackBody.extend(owner.shape);
const decisionSchema = owner.extend(decisionBody.shape);
const handOffSchema = owner.extend({ reason: handOffReason, queue: handOffQueue });

/** GET /v1/threads, …/:threadId/messages, …/stream, …/events; POST …/handoff, …/approvals, …/feedback. Nothing here creates a thread. */
export function serverThreads({
  threads,
  reads,
  directory,
  clock,
}: {
  threads: Pick<
    Threads,
    | "list"
    | "history"
    | "keptText"
    | "attachmentAddresses"
    | "follow"
    | "followRun"
    | "openFeed"
    | "people"
    | "rate"
    | "approve"
  >;
  reads: Reads;
  directory: Pick<Directory, "channel">;
  clock: Pick<Clock, "now">;
}) {
  return [
    endpoint({
      method: "GET",
      path: "/v1/threads",
      credential: "transportKey",
      finds: "user",
      summary: "List a user's threads",
      description:
        "The latest activity first: when a message came into the history last, or, of an empty thread, when it was made. Right within 5 s. A blocked user's threads can be listed.",
      query: threadsFields,
      answers: { 200: documentedJson("The threads", threadPage, EXAMPLE_THREADS) },
      handle: async ({ user, query }) => jsonAnswer(200, await threadPageOf(threads, user, query)),
    }),

    endpoint({
      method: "GET",
      path: "/v1/threads/:threadId/messages",
      credential: "transportKey",
      finds: "thread",
      summary: "Read a thread's history",
      description:
        "The last messages, oldest first, as the widget reads them. A reply in progress is not among them. A blocked user's threads can be read.",
      query: { ...pageFields, ...branchesField },
      answers: { 200: documentedJson("The messages", historyPage, EXAMPLE_PAGE) },
      handle: ({ thread, query }) => historyAnswer({ threads, reads }, thread.uid, historyQuery(query)),
    }),

    endpoint({
      method: "GET",
      path: "/v1/threads/:threadId/stream",
      credential: "transportKey",
      finds: "thread",
      summary: "Re-attach to a run: the active or last one, or the one that is named",
      description:
        "Everything said since the user's message, then live, to the terminal line of the present stream. A thread that began in the widget tells its tool_call lines here too.",
      query: runField,
      answers: {
        200: documentedLines("The run's stream", widgetLine, { type: "done", elapsedMs: 1200 }),
        204: "The thread has had no run, and none is named",
      },
      async handle(asked) {
        reads.mayBegin();
        return followAnswer(asked, threads, asked.thread);
      },
    }),

    endpoint({
      method: "GET",
      path: "/v1/threads/:threadId/events",
      credential: "transportKey",
      finds: "thread",
      summary: "Follow a thread: its messages and its state, as they come",
      description:
        "Stays open. First the state, then each item behind `after`, then what is new. The text of a reply in progress is not in it: read its stream. A blocked user's threads can be followed.",
      query: feedFields,
      answers: { 200: documentedFeed },
      async handle({ thread, query }) {
        reads.mayBegin();
        return feedAnswer(await threads.openFeed(thread.uid, query.after));
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/threads/:threadId/handoff",
      credential: "transportKey",
      finds: "speakersThread",
      summary: "Ask for a person",
      description:
        "An active run or pending call ends first, with a done line of handledBy person; then the thread waits, and no model answers. Nothing changes where a person is waited for or has the thread.",
      body: { schema: handOffSchema, example: { userId: "ada", reason: "Wants a refund" } },
      answers: { 204: "The thread waits for a person, or is with one" },
      refusals: {
        conflict: "The channel has no hand-off, or nobody is there at this time: then the text says when",
      },
      async handle({ thread, body: { reason = null, queue } }) {
        mustHavePeople(directory.channel(thread.slug), clock.now(), queue);
        await threads.people.ask({
          ...thread,
          by: "transport",
          reason,
          queue,
        });
        return emptyAnswer(204);
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/threads/:threadId/approvals",
      credential: "transportKey",
      finds: "speakersThread",
      summary: "Approve a call that waits for the user, or decline it",
      description:
        "As the user's own decision: a call that an operator approves is not decided here. The run goes on in the streams that are open. The first decision counts; the same once more changes nothing.",
      body: { schema: decisionSchema, example: { userId: "ada", ...EXAMPLE_DECISION } },
      answers: { 204: "The decision is stored" },
      refusals: NOT_WAITING,
      async handle({ thread, body: { callId, approved } }) {
        await threads.approve({ ...thread, callId, approved, by: "visitor" });
        return emptyAnswer(204);
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/threads/:threadId/feedback",
      credential: "transportKey",
      finds: "speakersThread",
      summary: "Rate a reply",
      description:
        "The latest rating of a reply counts, and is part of its item in the history. A run in progress does not notice.",
      body: {
        schema: feedbackSchema,
        example: { userId: "ada", messageId: "2", rating: "up" },
        check: commentMustFit,
      },
      answers: { 204: "It is stored" },
      refusals: { "not-found": "Unknown channel, user or thread, or no reply of the assistant in it" },
      async handle({ thread, body }) {
        await threads.rate({ ...thread, ...givenBy(body) });
        return emptyAnswer(204);
      },
    }),
  ];
}
