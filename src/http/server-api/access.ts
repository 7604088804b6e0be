import { z } from "zod";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Config } from "../../config.ts";
import { bodyOf } from "../body.ts";
import { json, serverRefusals } from "../reference/documented.ts";
import { callerId, channelSlug } from "../fields.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const body = z.object({
  channel: channelSlug,
  externalUserId: callerId,
  displayName: z.string().optional().describe("Stored with the user; a later one replaces it"),
});

const documentation: Documentation = {
  summary: "Ask whether a sender may talk",
  description: "The user is created on first use.",
  credential: "transportKey",
  params: {},
  query: {},
  headers: {},
  body: { schema: body, example: { channel: "cli", externalUserId: "ada", displayName: "Ada" } },
  answers: {
    200: json("The answer", z.object({ allowed: z.boolean(), userId: z.string() }), {
      allowed: true,
      userId: "8Zk3x0T5RrOeS3o1m1yq6g",
    }),
    ...serverRefusals(
      ["unauthorized", "not-found", "too-large", "unsupported-encoding", "invalid", "unavailable"],
      { "not-found": "Unknown channel" },
    ),
  },
};

/** POST /v1/access: may this sender talk to the bot? `allowed: false` is where a message would be refused with 403. */
export function accessRoute(parts: {
  admission: Pick<ServerAdmission, "transport" | "user">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, config } = parts;
  return {
    method: "POST",
    path: "/v1/access",
    api: "server",
    documentation,
    async handle(asked) {
      admission.transport(asked.request);
      const said = await bodyOf(asked.request, config.serverMaxBodyBytes, { schema: body });
      const { user, mayTalk } = await admission.user(asked, {
        slug: said.channel,
        externalId: said.externalUserId,
        displayName: said.displayName ?? null,
        thread: null,
      });
      return jsonAnswer(200, { allowed: mayTalk, userId: user.userId });
    },
  };
}
