import { z } from "zod";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Visitors } from "../../actors/visitors.ts";
import type { Config } from "../../config.ts";
import { bodyOf } from "../body.ts";
import { callerId } from "../fields.ts";
import { documentedEmpty, serverRefusals } from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const bodySchema = z.object({ externalUserId: callerId.describe("The caller's account id") });

const documentation: Documentation = {
  summary: "End all visitor tokens of an account",
  description:
    "From then on each of them is 401, on every device; the account and its threads stay. 204 also where there is no such account, or no token.",
  credential: "secretKey",
  params: {
    slug: { description: "Channel slug", schema: z.string(), required: true, example: "shop" },
  },
  query: {},
  headers: {},
  body: { schema: bodySchema, example: { externalUserId: "account-7" } },
  answers: {
    204: documentedEmpty("No token of the account is valid any more"),
    ...serverRefusals(
      ["unauthorized", "not-found", "too-large", "unsupported-encoding", "invalid", "unavailable"],
      {
        unauthorized: "Wrong secret key, or not a web channel",
        "not-found": "Unknown channel",
      },
    ),
  },
};

/**
 * POST /v1/channels/:slug/revoke: ends a user's tokens, for a sign-out everywhere, and for tokens that somebody else
 * may hold.
 */
export function revokeRoute(dependencies: {
  admission: Pick<ServerAdmission, "backend">;
  visitors: Pick<Visitors, "revoke">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, visitors, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/channels/:slug/revoke",
    api: "server",
    documentation,
    async handle(incoming) {
      const { slug } = admission.backend(incoming, incoming.params["slug"] ?? "");
      const body = await bodyOf(incoming.request, config.serverMaxBodyBytes, { schema: bodySchema });
      await visitors.revoke({ slug, externalId: body.externalUserId });
      return emptyAnswer(204);
    },
  };
}
