import { fieldsOf } from "../reference/documentation.ts";
import type { Threads } from "../../actors/threads.ts";
import { attempt, queryOf } from "../body.ts";
import { documentedFeed, feedAnswer, feedFields, feedQuery } from "../feeds/feed-answer.ts";
import type { VisitorFeeds } from "../feeds/visitor-feeds.ts";
import type { Reads } from "../reads.ts";
import { originHeader, threadParam, widgetRefusals } from "../reference/shared-documentation.ts";
import type { Documentation, Route } from "../route.ts";
import { inPath } from "./gate.ts";
import type { Gate, ThreadEntrance } from "./gate.ts";

const documentation: Documentation = {
  summary: "Follow a thread: its messages and its state, as they come",
  description:
    "Stays open. First the state, then each item behind `after`, then what is new. The text of a reply in progress is not in it: read its stream. At most 5 at a time for a token, of which the oldest ends.",
  credential: "visitorToken",
  params: threadParam,
  query: fieldsOf(feedFields),
  headers: originHeader,
  body: null,
  answers: {
    200: documentedFeed,
    ...widgetRefusals([
      "unauthorized",
      "forbidden",
      "not-found",
      "too-large",
      "rate-limited",
      "invalid",
      "unavailable",
    ]),
  },
};

/** GET /v1/widget/threads/:id/events: the feed of a thread. */
export function eventsRoute({
  gate,
  threads,
  reads,
  visitorFeeds,
}: {
  gate: Gate;
  threads: Pick<Threads, "openFeed">;
  reads: Pick<Reads, "mayBegin">;
  visitorFeeds: VisitorFeeds;
}): Route {
  return {
    method: "GET",
    path: "/v1/widget/threads/:id/events",
    api: "widget",
    documentation,
    async handle(incoming) {
      const entrance: ThreadEntrance<{ after: string | null }> = {
        counts: ["reads-by-token"],
        read: async (request) => attempt(() => queryOf(request, feedQuery)),
        threadName: inPath(incoming),
        loads: null,
      };
      const { uid, body, endsAtMs } = await gate.admitToThread(incoming, entrance);
      reads.mayBegin();
      const feed = await threads.openFeed(uid, body.after);
      const onOver = visitorFeeds.add({
        token: incoming.request.headers.get("x-visitor-token") ?? "",
        endsAtMs,
        feed,
        mayRead: () => gate.admitToThread(incoming, { ...entrance, counts: [] }),
      });
      return feedAnswer(feed, onOver);
    },
  };
}
