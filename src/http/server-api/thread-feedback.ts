import type { Threads } from "../../actors/threads.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../domain/refusal.ts";
import { bodyOf } from "../body.ts";
import { commentMustFit, feedbackBody, givenBy } from "../feedback.ts";
import { callerId, channelSlug } from "../fields.ts";
import { BODY_REFUSALS, documentedEmpty, serverRefusals } from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { namedThreadParam } from "./named-thread.ts";

const bodySchema = feedbackBody.extend({
  userId: callerId,
  channel: channelSlug.default("cli").describe("Channel slug"),
});

const documentation: Documentation = {
  summary: "Rate a reply",
  description:
    "The latest rating of a reply counts, and is part of its item in the history. A run in progress does not notice.",
  credential: "transportKey",
  params: namedThreadParam,
  query: {},
  headers: {},
  body: { schema: bodySchema, example: { userId: "ada", messageId: "2", rating: "up" } },
  answers: {
    204: documentedEmpty("It is stored"),
    ...serverRefusals(BODY_REFUSALS, {
      "not-found": "Unknown channel, user or thread, or no reply of the assistant in it",
    }),
  },
};

/** POST /v1/threads/:threadId/feedback: a transport's user rates a reply. */
export function serverFeedbackRoute(dependencies: {
  admission: Pick<ServerAdmission, "transport" | "speakersThread">;
  threads: Pick<Threads, "rate">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, threads, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/threads/:threadId/feedback",
    api: "server",
    documentation,
    async handle(incoming) {
      admission.transport(incoming.request);
      const shape = { schema: bodySchema, check: commentMustFit };
      const body = await bodyOf(incoming.request, config.serverMaxBodyBytes, shape);
      const { channel: slug, userId: externalId } = body;
      const threadId = incoming.params["threadId"] ?? "";
      if (!callerId.safeParse(threadId).success) throw new Refusal("invalid", "The path holds no threadId");
      const uid = await admission.speakersThread(incoming, { slug, externalId, threadId });
      if (uid === null) throw new Refusal("not-found", "Unknown thread");
      await threads.rate({ uid, slug, ...givenBy(body) });
      return emptyAnswer(204);
    },
  };
}
