import type { Threads } from "../../actors/threads.ts";
import { documentedFeed, feedAnswer, feedFields, feedQuery } from "../feeds/feed-answer.ts";
import type { Reads } from "../reads.ts";
import { serverRefusals } from "../reference/shared-documentation.ts";
import type { Documentation, Route } from "../route.ts";
import { admitToNamedThread, namedThreadParam, ownerFields, ownerQuery } from "./named-thread.ts";
import type { ThreadAdmission } from "./named-thread.ts";

const querySchema = feedQuery.extend(ownerQuery.shape);

const documentation: Documentation = {
  summary: "Follow a thread: its messages and its state, as they come",
  description:
    "Stays open. First the state, then each item behind `after`, then what is new. The text of a reply in progress is not in it: read its stream. A blocked user's threads can be followed.",
  credential: "transportKey",
  params: namedThreadParam,
  query: { ...ownerFields, ...feedFields },
  headers: {},
  body: null,
  answers: {
    200: documentedFeed,
    ...serverRefusals(["unauthorized", "not-found", "too-large", "invalid", "unavailable"], {
      "not-found": "Unknown thread",
      invalid: "The query does not match the schema",
    }),
  },
};

/** GET /v1/threads/:threadId/events: the feed of a thread, for a backend. */
export function serverEventsRoute(dependencies: {
  admission: ThreadAdmission;
  threads: Pick<Threads, "openFeed">;
  reads: Pick<Reads, "mayBegin">;
}): Route {
  const { admission, threads, reads } = dependencies;
  return {
    method: "GET",
    path: "/v1/threads/:threadId/events",
    api: "server",
    documentation,
    async handle(incoming) {
      const { uid, query } = await admitToNamedThread(incoming, admission, querySchema);
      reads.mayBegin();
      return feedAnswer(await threads.openFeed(uid, query.after));
    },
  };
}
