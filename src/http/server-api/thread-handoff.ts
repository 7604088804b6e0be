import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Directory } from "../../admission/directory.ts";
import type { Config } from "../../config.ts";
import { Refusal } from "../../domain/refusal.ts";
import { bodyOf } from "../body.ts";
import { callerId, channelSlug } from "../fields.ts";
import { handOffReason, mustAllowHandOff } from "../hand-off.ts";
import { BODY_REFUSALS, documentedEmpty, serverRefusals } from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { namedThreadParam } from "./named-thread.ts";

const bodySchema = z.object({
  userId: callerId,
  channel: channelSlug.default("cli").describe("Channel slug"),
  reason: handOffReason,
});

const documentation: Documentation = {
  summary: "Ask for a person",
  description:
    "An active run or pending call ends first, with a done line of handledBy person; then the thread waits, and no model answers. Nothing changes where a person is waited for or has the thread.",
  credential: "transportKey",
  params: namedThreadParam,
  query: {},
  headers: {},
  body: { schema: bodySchema, example: { userId: "ada", reason: "Wants a refund" } },
  answers: {
    204: documentedEmpty("The thread waits for a person, or is with one"),
    ...serverRefusals([...BODY_REFUSALS, "conflict"], {
      "not-found": "Unknown channel, user or thread",
      conflict: "The channel has no hand-off",
    }),
  },
};

/** POST /v1/threads/:threadId/handoff: a transport asks for a person (contract, A person takes over). */
export function serverHandOffRoute(dependencies: {
  admission: Pick<ServerAdmission, "transport" | "speakersThread">;
  threads: Pick<Threads, "people">;
  directory: Pick<Directory, "channel">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, threads, directory, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/threads/:threadId/handoff",
    api: "server",
    documentation,
    async handle(incoming) {
      admission.transport(incoming.request);
      const body = await bodyOf(incoming.request, config.serverMaxBodyBytes, { schema: bodySchema });
      const { channel: slug, userId: externalId, reason = null } = body;
      const threadId = incoming.params["threadId"] ?? "";
      if (!callerId.safeParse(threadId).success) throw new Refusal("invalid", "The path holds no threadId");
      const uid = await admission.speakersThread(incoming, { slug, externalId, threadId });
      if (uid === null) throw new Refusal("not-found", "Unknown thread");
      mustAllowHandOff(directory.channel(slug));
      await threads.people.ask({ uid, slug, by: "transport", reason });
      return emptyAnswer(204);
    },
  };
}
