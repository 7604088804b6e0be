import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Threads } from "../../actors/threads.ts";
import { queryOf } from "../body.ts";
import { documentedJson, serverRefusals } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { threadPage } from "../../protocol/threads.ts";
import { EXAMPLE_THREADS, threadPageOf, threadsFields, threadsQuery } from "../thread-page.ts";
import { ownerFields, ownerQuery } from "./named-thread.ts";

const querySchema = threadsQuery.extend(ownerQuery.shape);

const documentation: Documentation = {
  summary: "List a user's threads",
  description:
    "The latest activity first: when a message came into the history last, or, of an empty thread, when it was made. Right within 5 s. A blocked user's threads can be listed.",
  credential: "transportKey",
  params: {},
  query: { ...ownerFields, ...threadsFields },
  headers: {},
  body: null,
  answers: {
    200: documentedJson("The threads", threadPage, EXAMPLE_THREADS),
    ...serverRefusals(["unauthorized", "not-found", "too-large", "invalid", "unavailable"], {
      "not-found": "Unknown user",
      invalid: "The query does not match the schema",
    }),
  },
};

/** GET /v1/threads: a user's conversations. Creates nothing. */
export function serverThreadsRoute(dependencies: {
  admission: Pick<ServerAdmission, "transport" | "knownUser">;
  threads: Pick<Threads, "list">;
}): Route {
  const { admission, threads } = dependencies;
  return {
    method: "GET",
    path: "/v1/threads",
    api: "server",
    documentation,
    async handle(incoming) {
      admission.transport(incoming.request);
      const { userId: externalId, channel: slug, ...page } = queryOf(incoming.request, querySchema);
      const { userId } = await admission.knownUser(incoming, { slug, externalId });
      return jsonAnswer(200, await threadPageOf(threads, { slug, userId }, page));
    },
  };
}
