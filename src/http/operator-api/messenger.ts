import { z } from "zod";
import { Refusal } from "../../domain/refusal.ts";
import { checkMessenger } from "../../messengers/check.ts";
import { note } from "../../operators/acting.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { OperatorApi } from "./operator-api.ts";

const checked = z.object({
  type: z.string().describe("The platform"),
  problems: z.array(z.string()).describe("What is wrong, a sentence each; empty: nothing"),
});

/** POST /v1/operator/channels/:slug/messenger/check. */
export function messengerEndpoints({
  channelVariables,
  config,
  log,
}: Pick<OperatorApi, "channelVariables" | "config" | "log">) {
  return [
    endpoint({
      method: "POST",
      path: "/v1/operator/channels/:slug/messenger/check",
      credential: "operatorKey",
      roles: ["admin"],
      finds: "channel",
      summary: "Check a channel's messenger",
      description:
        "Asks the platform for the account, by this instance's variables. Nothing is sent to a user.",
      answers: {
        200: documentedJson("What is wrong", checked, {
          type: "telegram",
          problems: ["Telegram does not know the botToken: copy it again from @BotFather"],
        }),
      },
      refusals: { "not-found": "Unknown channel, or it has no messenger" },
      async handle({ acting, channel }) {
        const { slug, messenger } = channel;
        if (messenger === undefined) throw new Refusal("not-found", "Unknown messenger");
        await note(acting, { action: "messengers.check", target: slug, slug });
        const { publicUrl } = config;
        const problems = await checkMessenger(channel, { variables: channelVariables, publicUrl, log });
        return jsonAnswer(200, { type: messenger.type, problems });
      },
    }),
  ];
}
