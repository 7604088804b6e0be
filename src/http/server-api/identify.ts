import { z } from "zod";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import type { Visitors } from "../../actors/visitors.ts";
import type { Config } from "../../config.ts";
import { bodyOf } from "../body.ts";
import { documentedJson, serverRefusals } from "../reference/shared-documentation.ts";
import { attributesMap, callerId } from "../fields.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const bodySchema = z.object({
  visitorToken: z.string().describe("From the widget element's getVisitorToken()"),
  externalUserId: callerId.describe("The caller's account id"),
  attributes: attributesMap.optional(),
  rotate: z
    .boolean()
    .optional()
    .describe("The answer has a new token in the place of this one, which is 401 at once"),
});

const identified = z.object({
  userId: z.string(),
  merged: z.boolean(),
  visitorToken: z.string().optional().describe("Only with `rotate`: for the page, and for nobody else"),
  expiresAt: z.int().optional().describe("Only with `rotate`: Unix time in milliseconds"),
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
    schema: bodySchema,
    example: {
      visitorToken: "vt_shop_lO1bP0w3p8m8nM3yYcWkqf0o9yXv1n2dTt7y3gk5f1E",
      externalUserId: "account-7",
    },
  },
  answers: {
    200: documentedJson("The account", identified, {
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
 * POST /v1/channels/:slug/identify: links an anonymous visitor to the caller's account. The slug is checked before the
 * key. It works on disabled channels and for blocked users, and does not slide the token's lifetime (contract, Identify).
 */
export function identifyRoute(dependencies: {
  admission: Pick<ServerAdmission, "backend">;
  visitors: Pick<Visitors, "identify">;
  config: Pick<Config, "serverMaxBodyBytes">;
}): Route {
  const { admission, visitors, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/channels/:slug/identify",
    api: "server",
    documentation,
    async handle(incoming) {
      const { slug } = admission.backend(incoming, incoming.params["slug"] ?? "");
      const body = await bodyOf(incoming.request, config.serverMaxBodyBytes, { schema: bodySchema });
      const { visitorToken, externalUserId: externalId, attributes, rotate = false } = body;
      const answer = await visitors.identify({ slug, visitorToken, externalId, attributes, rotate });
      incoming.note({ userId: answer.userId });
      return jsonAnswer(200, answer);
    },
  };
}
