import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { bodyOf } from "../body.ts";
import { nothing, serverRefusals } from "../reference/documented.ts";
import { callerId, channelSlug } from "../fields.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const body = z.object({
  threadId: callerId,
  userId: callerId,
  channel: channelSlug.default("cli").describe("Channel slug"),
});

const documentation: Documentation = {
  summary: "Stop a user's active run",
  description:
    "204 also where nothing runs, and for an unknown thread or user. The open stream ends with an error line of code cancelled.",
  credential: "transportKey",
  params: {},
  query: {},
  headers: {},
  body: { schema: body, example: { threadId: "chat-1", userId: "ada", channel: "cli" } },
  answers: {
    204: nothing("Nothing runs in the thread now"),
    ...serverRefusals(
      ["unauthorized", "not-found", "too-large", "unsupported-encoding", "invalid", "unavailable"],
      { "not-found": "Unknown channel" },
    ),
  },
};

/** POST /v1/messages/cancel: stops a user's active run (contract, Stopping). Creates nothing, and also stops a blocked user's. */
export function messagesCancelRoute(parts: {
  admission: Pick<ServerAdmission, "transport" | "threadOf">;
  threads: Pick<Threads, "cancel">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, threads, config } = parts;
  return {
    method: "POST",
    path: "/v1/messages/cancel",
    api: "server",
    documentation,
    async handle(asked) {
      admission.transport(asked.request);
      const said = await bodyOf(asked.request, config.serverMaxBodyBytes, { schema: body });
      const { channel: slug, userId: externalId, threadId } = said;
      const uid = await admission.threadOf(asked, { slug, externalId, threadId });
      if (uid !== null) await threads.cancel(uid);
      return emptyAnswer(204);
    },
  };
}
