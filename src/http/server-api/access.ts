import { z } from "zod";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { bodyOf } from "../body.ts";
import { documentedJson, serverRefusals } from "../reference/shared-documentation.ts";
import { callerId, channelSlug, displayNameText } from "../fields.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const bodySchema = z.object({
  channel: channelSlug,
  externalUserId: callerId,
  displayName: displayNameText.optional(),
});

const documentation: Documentation = {
  summary: "Ask whether a sender may talk",
  description: "The user is created on first use.",
  credential: "transportKey",
  params: {},
  query: {},
  headers: {},
  body: { schema: bodySchema, example: { channel: "cli", externalUserId: "ada", displayName: "Ada" } },
  answers: {
    200: documentedJson("The answer", z.object({ allowed: z.boolean(), userId: z.string() }), {
      allowed: true,
      userId: "8Zk3x0T5RrOeS3o1m1yq6g",
    }),
    ...serverRefusals(
      ["unauthorized", "not-found", "too-large", "unsupported-encoding", "invalid", "unavailable"],
      { "not-found": "Unknown channel" },
    ),
  },
};

/** POST /v1/access: may this sender talk to the bot? `allowed: false` if a message would be refused with 403. */
export function accessRoute(dependencies: {
  admission: Pick<ServerAdmission, "transport" | "user">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/access",
    api: "server",
    documentation,
    async handle(incoming) {
      admission.transport(incoming.request);
      const body = await bodyOf(incoming.request, config.serverMaxBodyBytes, { schema: bodySchema });
      const { user, mayTalk } = await admission.user(incoming, {
        slug: body.channel,
        externalId: body.externalUserId,
        displayName: body.displayName ?? null,
        thread: null,
      });
      return jsonAnswer(200, { allowed: mayTalk, userId: user.userId });
    },
  };
}
