import { z } from "zod";
import type { Threads } from "../../threads/threads.ts";
import type { Directory } from "../../admission/directory.ts";
import type { WidgetAdmission } from "../../admission/widget-admission.ts";
import type { Clock } from "../../clock.ts";
import { newId } from "../../domain/ids.ts";
import { Refusal } from "../../domain/refusal.ts";
import { saidName } from "../../domain/threads/renamed-threads.ts";
import { asVisitor, deleteThread } from "../../operators/forgetting.ts";
import type { Store } from "../../store.ts";
import { endpoint } from "../endpoint.ts";
import { documentedFeed, feedAnswer, feedFields } from "../feeds/feed-answer.ts";
import type { VisitorFeeds } from "../feeds/visitor-feeds.ts";
import {
  commentMustFit,
  feedbackBody,
  givenBy,
  handOffQueue,
  handOffReason,
  mustAllowHandOff,
  mustHavePeople,
  stoppedRun,
} from "../fields.ts";
import { branchesField, EXAMPLE_PAGE, historyAnswer, historyQuery, pageFields } from "../history-page.ts";
import type { Reads } from "../reads.ts";
import { historyPage } from "../../protocol/history.ts";
import { widgetLine } from "../../protocol/lines.ts";
import { threadPage } from "../../protocol/threads.ts";
import { documentedJson, documentedLines } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";
import { followAnswer, runField } from "../stream/follow-answer.ts";
import { EXAMPLE_THREADS, threadPageOf, threadsFields } from "../thread-page.ts";

export interface WidgetThreadsDependencies {
  admission: Pick<WidgetAdmission, "visitor">;
  threads: Pick<
    Threads,
    | "list"
    | "history"
    | "keptText"
    | "attachmentAddresses"
    | "follow"
    | "followRun"
    | "openFeed"
    | "cancel"
    | "forgetting"
    | "people"
    | "rate"
  >;
  store: Pick<Store, "addThread" | "appendAudit">;
  reads: Reads;
  visitorFeeds: VisitorFeeds;
  directory: Pick<Directory, "channel">;
  clock: Clock;
}

/** POST, GET /v1/widget/threads, and what there is of one: /v1/widget/threads/:id/… */
export function widgetThreads(dependencies: WidgetThreadsDependencies) {
  const { threads, store, clock } = dependencies;
  return [
    endpoint({
      method: "POST",
      path: "/v1/widget/threads",
      credential: "visitorToken",
      rate: "threads",
      summary: "Start a conversation",
      description: "Answers the id of a new thread of this visitor. No body.",
      answers: {
        201: documentedJson("The new thread", z.object({ threadId: z.string() }), {
          threadId: "bkQmzpTqyiWfXH2uJ3dVxw",
        }),
      },
      async handle({ caller: { slug, user, userNow }, note }) {
        // Its id is its uid.
        const uid = newId();
        const thread = { slug, threadId: uid, uid, atMs: clock.now() };
        const added = await store.addThread({ ...thread, userId: user.userId });
        // The visitor was merged between the two calls: the token is the account's now. An account is never merged away.
        if (!added && !(await store.addThread({ ...thread, userId: (await userNow()).userId }))) {
          throw new Refusal("unavailable", "", 1);
        }
        note({ uid });
        return jsonAnswer(201, { threadId: uid });
      },
    }),

    endpoint({
      method: "GET",
      path: "/v1/widget/threads",
      credential: "visitorToken",
      rate: "reads",
      summary: "List the visitor's conversations",
      description:
        "The latest activity first: when a message came into the history last, or, of an empty thread, when it was made. Right within 5 s.",
      query: threadsFields,
      answers: { 200: documentedJson("The threads", threadPage, EXAMPLE_THREADS) },
      async handle({ caller: { slug, user, renamed }, query }) {
        const [page, names] = await Promise.all([
          threadPageOf(threads, { slug, userId: user.userId }, query),
          renamed(),
        ]);
        const items = page.items.map((item) => ({ ...item, threadId: saidName(names, item.threadId) }));
        return jsonAnswer(200, { ...page, items });
      },
    }),

    ...readEndpoints(dependencies),
    cancelEndpoint(threads, {
      path: "/v1/widget/threads/:id/cancel",
      summary: "Stop the active run",
      description:
        "The open stream ends with an error line of code cancelled; what was streamed stays in the history. The body may be absent.",
    }),

    endpoint({
      method: "POST",
      path: "/v1/widget/threads/:id/delete",
      credential: "visitorToken",
      rate: null,
      finds: "thread",
      summary: "Delete a thread",
      description:
        "With everything in it, for good: from now on it is 404. An open stream ends with an error line of code deleted. No body.",
      answers: { 204: "It is deleted" },
      async handle({ caller: { slug }, thread }) {
        await deleteThread(asVisitor({ store, clock }), threads.forgetting, slug, thread.uid);
        return emptyAnswer(204);
      },
    }),

    ...handOffEndpoints(dependencies),

    endpoint({
      method: "POST",
      path: "/v1/widget/threads/:id/feedback",
      credential: "visitorToken",
      rate: "ratings",
      finds: "thread",
      summary: "Rate a reply",
      description:
        "The latest rating of a reply counts, and is part of its item in the history. A run in progress does not notice.",
      body: {
        schema: feedbackBody,
        example: { messageId: "2", rating: "down", comment: "Wrong address" },
        check: commentMustFit,
      },
      answers: { 204: "It is stored" },
      refusals: { "not-found": "Not the visitor's thread, or no reply of the assistant in it" },
      async handle({ caller: { slug }, thread: { uid }, body }) {
        await threads.rate({ uid, slug, ...givenBy(body) });
        return emptyAnswer(204);
      },
    }),
  ];
}

/** GET …/:id/messages, …/stream, …/events. */
function readEndpoints({ admission, threads, reads, visitorFeeds }: WidgetThreadsDependencies) {
  return [
    endpoint({
      method: "GET",
      path: "/v1/widget/threads/:id/messages",
      credential: "visitorToken",
      rate: "reads",
      finds: "thread",
      summary: "Read a thread's history",
      description: "The last messages, oldest first. A reply in progress is not among them.",
      query: { ...pageFields, ...branchesField },
      answers: { 200: documentedJson("The messages", historyPage, EXAMPLE_PAGE) },
      handle: ({ thread, query }) => historyAnswer({ threads, reads }, thread.uid, historyQuery(query)),
    }),

    endpoint({
      method: "GET",
      path: "/v1/widget/threads/:id/stream",
      credential: "visitorToken",
      rate: "reads",
      finds: "thread",
      loads: "last-in-parts",
      summary: "Re-attach to a run: the active or last one, or the one that is named",
      description:
        "Everything said since the user's message, then live, to the terminal line of the present stream. A pending tool_call is that line. A run that others have followed since is told in short.",
      query: runField,
      answers: {
        200: documentedLines("The run's stream", widgetLine, { type: "done", elapsedMs: 1200 }),
        204: "The thread has had no run, and none is named",
      },
      refusals: {
        "not-found": "The thread does not exist or belongs to another visitor, or it has no such run",
      },
      async handle(asked) {
        reads.mayBegin();
        return followAnswer(asked, threads, asked.thread);
      },
    }),

    endpoint({
      method: "GET",
      path: "/v1/widget/threads/:id/events",
      credential: "visitorToken",
      rate: "feeds",
      finds: "thread",
      summary: "Follow a thread: its messages and its state, as they come",
      description:
        "Stays open. First the state, then each item behind `after`, then what is new. The text of a reply in progress is not in it: read its stream. At most 5 at a time for a token, of which the oldest ends.",
      query: feedFields,
      answers: { 200: documentedFeed },
      async handle(asked) {
        reads.mayBegin();
        const feed = await threads.openFeed(asked.thread.uid, asked.query.after);
        const onOver = visitorFeeds.add({
          token: asked.request.headers.get("x-visitor-token") ?? "",
          endsAtMs: asked.caller.endsAtMs,
          feed,
          async mayRead() {
            const { threadUid } = await admission
              .visitor(asked)
              .admit({ counts: [], threadName: asked.params.id });
            if (threadUid === null) throw new Refusal("not-found");
          },
        });
        return feedAnswer(feed, onOver);
      },
    }),
  ];
}

const cancelSchema = z.object({ runId: stoppedRun });

/** Stops the active run or pending call of a visitor's thread (contract, Stopping). */
export function cancelEndpoint(
  threads: Pick<Threads, "cancel">,
  place: { path: string; summary: string; description: string },
) {
  return endpoint({
    ...place,
    method: "POST",
    credential: "visitorToken",
    rate: null,
    finds: "thread",
    body: { schema: cancelSchema, example: { runId: "fJ0bqXz1nUO5o6pVh2xkSA" }, optional: true },
    answers: { 204: NOTHING_RUNS },
    async handle({ thread, body: { runId = null } }) {
      await threads.cancel(thread.uid, runId);
      return emptyAnswer(204);
    },
  });
}

export const NOTHING_RUNS = "Nothing runs in the thread now, or not the named run";

const handOffSchema = z.object({ reason: handOffReason, queue: handOffQueue });
const NO_HANDOFF = { conflict: "The channel has no hand-off" };
const NOBODY_THERE = { conflict: "The channel has no hand-off, or nobody is there at this time" };

/** POST …/:id/handoff, …/handoff/cancel (contract, A person takes over). */
function handOffEndpoints({ threads: { people }, directory, clock }: WidgetThreadsDependencies) {
  return [
    endpoint({
      method: "POST",
      path: "/v1/widget/threads/:id/handoff",
      credential: "visitorToken",
      rate: "messages",
      finds: "thread",
      summary: "Ask for a person",
      description:
        "An active run or pending call ends first, with a done line of handledBy person; then the thread waits, and no model answers. Nothing changes where a person is waited for or has the thread. A visitor may wait in three threads at a time. The body may be absent.",
      body: { schema: handOffSchema, example: { reason: "I want my money back" }, optional: true },
      answers: { 204: "The thread waits for a person, or is with one" },
      refusals: {
        ...NOBODY_THERE,
        "rate-limited": "A rate is reached, or the visitor waits for a person in three other threads",
      },
      async handle({ caller: { slug, user }, thread: { uid }, body: { reason = null, queue } }) {
        mustHavePeople(directory.channel(slug), clock.now(), queue);
        await people.ask({
          uid,
          slug,
          by: { visitor: user.userId },
          reason,
          queue,
        });
        return emptyAnswer(204);
      },
    }),

    endpoint({
      method: "POST",
      path: "/v1/widget/threads/:id/handoff/cancel",
      credential: "visitorToken",
      rate: null,
      finds: "thread",
      summary: "Wait for a person no longer",
      description: "The assistant answers again. Nothing changes unless the thread waits. No body.",
      answers: { 204: "The thread does not wait for a person" },
      refusals: NO_HANDOFF,
      async handle({ caller: { slug }, thread: { uid } }) {
        mustAllowHandOff(directory.channel(slug));
        await people.stopWaiting({ uid, slug });
        return emptyAnswer(204);
      },
    }),
  ];
}
