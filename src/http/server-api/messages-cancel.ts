import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { bodyOf } from "../body.ts";
import { documentedEmpty, serverRefusals } from "../reference/shared-documentation.ts";
import { callerId, channelSlug, stoppedRun } from "../fields.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const bodySchema = z.object({
  threadId: callerId,
  userId: callerId,
  channel: channelSlug.default("cli").describe("Channel slug"),
  runId: stoppedRun,
});

const documentation: Documentation = {
  summary: "Stop a user's active run",
  description:
    "204 also where nothing runs, or another run than the named one, and for an unknown thread or user. The open stream ends with an error line of code cancelled.",
  credential: "transportKey",
  params: {},
  query: {},
  headers: {},
  body: { schema: bodySchema, example: { threadId: "chat-1", userId: "ada", channel: "cli" } },
  answers: {
    204: documentedEmpty("Nothing runs in the thread now, or not the named run"),
    ...serverRefusals(
      ["unauthorized", "not-found", "too-large", "unsupported-encoding", "invalid", "unavailable"],
      { "not-found": "Unknown channel" },
    ),
  },
};

/** POST /v1/messages/cancel: stops a user's active run (contract, Stopping). Creates nothing, and also stops a blocked user's. */
export function serverCancelRoute(dependencies: {
  admission: Pick<ServerAdmission, "transport" | "threadOf">;
  threads: Pick<Threads, "cancel">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, threads, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/messages/cancel",
    api: "server",
    documentation,
    async handle(incoming) {
      admission.transport(incoming.request);
      const body = await bodyOf(incoming.request, config.serverMaxBodyBytes, { schema: bodySchema });
      const { channel: slug, userId: externalId, threadId, runId = null } = body;
      const uid = await admission.threadOf(incoming, { slug, externalId, threadId });
      if (uid !== null) await threads.cancel(uid, runId);
      return emptyAnswer(204);
    },
  };
}
