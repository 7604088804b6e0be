import { z } from "zod";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Visitors } from "../../actors/visitors.ts";
import type { Config } from "../../config.ts";
import { bodyOf } from "../body.ts";
import { json, serverRefusals } from "../reference/documented.ts";
import { callerId } from "../fields.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const body = z.object({
  visitorToken: z.string().describe("From the widget element's getVisitorToken()"),
  externalUserId: callerId.describe("The caller's account id"),
});

const documentation: Documentation = {
  summary: "Link an anonymous visitor to an account",
  description:
    "Without such an account the visitor becomes it; otherwise its threads move to the account. Repeating the call changes nothing.",
  credential: "secretKey",
  params: {
    slug: { description: "Channel slug", schema: z.string(), required: true, example: "shop" },
  },
  query: {},
  headers: {},
  body: {
    schema: body,
    example: {
      visitorToken: "vt_shop_lO1bP0w3p8m8nM3yYcWkqf0o9yXv1n2dTt7y3gk5f1E",
      externalUserId: "account-7",
    },
  },
  answers: {
    200: json("The account", z.object({ userId: z.string(), merged: z.boolean() }), {
      userId: "8Zk3x0T5RrOeS3o1m1yq6g",
      merged: false,
    }),
    ...serverRefusals(
      [
        "unauthorized",
        "not-found",
        "conflict",
        "too-large",
        "unsupported-encoding",
        "invalid",
        "unavailable",
      ],
      {
        unauthorized: "Wrong secret key, or not a web channel",
        "not-found": "Unknown channel; or unknown or expired visitor token, or one of another channel",
        conflict: "The token is already bound to a different account",
      },
    ),
  },
};

/**
 * POST /v1/channels/:slug/identify: links an anonymous visitor to the caller's account. The slug is looked at before the
 * key; it works on disabled channels and for blocked users, and is no use of the token (contract, Identify).
 */
export function identifyRoute(parts: {
  admission: Pick<ServerAdmission, "backend">;
  visitors: Pick<Visitors, "identify">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, visitors, config } = parts;
  return {
    method: "POST",
    path: "/v1/channels/:slug/identify",
    api: "server",
    documentation,
    async handle(asked) {
      const { slug } = admission.backend(asked, asked.params["slug"] ?? "");
      const said = await bodyOf(asked.request, config.serverMaxBodyBytes, { schema: body });
      const { visitorToken, externalUserId: externalId } = said;
      const identified = await visitors.identify({ slug, visitorToken, externalId });
      asked.note({ userId: identified.userId });
      return jsonAnswer(200, identified);
    },
  };
}
