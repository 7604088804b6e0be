import { z } from "zod";
import type { Visitors } from "../../visitors/visitors.ts";
import type { ServerAdmission } from "../../admission/server-admission.ts";
import { endpoint } from "../endpoint.ts";
import { attributesMap, callerId, channelSlug, displayNameText } from "../fields.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { emptyAnswer, jsonAnswer } from "../route.ts";

const accessSchema = z.object({
  channel: channelSlug,
  externalUserId: callerId,
  displayName: displayNameText.optional(),
});

const identifySchema = z.object({
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

const revokeSchema = z.object({ externalUserId: callerId.describe("The caller's account id") });

/** POST /v1/access; POST /v1/channels/:slug/identify, …/revoke. */
export function serverUsers({
  admission,
  visitors,
}: {
  admission: Pick<ServerAdmission, "user">;
  visitors: Pick<Visitors, "identify" | "revoke">;
}) {
  return [
    // `allowed: false` if a message would be refused with 403.
    endpoint({
      method: "POST",
      path: "/v1/access",
      credential: "transportKey",
      summary: "Ask whether a sender may talk",
      description: "The user is created on first use.",
      body: {
        schema: accessSchema,
        example: { channel: "cli", externalUserId: "ada", displayName: "Ada" },
      },
      answers: {
        200: documentedJson("The answer", z.object({ allowed: z.boolean(), userId: z.string() }), {
          allowed: true,
          userId: "8Zk3x0T5RrOeS3o1m1yq6g",
        }),
      },
      async handle(asked) {
        const { channel: slug, externalUserId: externalId, displayName = null } = asked.body;
        const { user, mayTalk } = await admission.user(asked, {
          slug,
          externalId,
          displayName,
          thread: null,
        });
        return jsonAnswer(200, { allowed: mayTalk, userId: user.userId });
      },
    }),

    // Works on disabled channels and for blocked users, and does not slide the token's lifetime (contract, Identify).
    endpoint({
      method: "POST",
      path: "/v1/channels/:slug/identify",
      credential: "secretKey",
      summary: "Link an anonymous visitor to an account",
      description:
        "Without such an account the visitor becomes it; otherwise its threads move to the account. Repeating the call changes nothing.",
      body: {
        schema: identifySchema,
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
      },
      refusals: {
        "not-found": "Unknown channel; or unknown or expired visitor token, or one of another channel",
        conflict: "The token is already bound to a different account",
      },
      async handle({ caller: { slug }, body, note }) {
        const { visitorToken, externalUserId: externalId, attributes, rotate = false } = body;
        const answer = await visitors.identify({ slug, visitorToken, externalId, attributes, rotate });
        note({ userId: answer.userId });
        return jsonAnswer(200, answer);
      },
    }),

    // For a sign-out everywhere, and for tokens that somebody else may hold.
    endpoint({
      method: "POST",
      path: "/v1/channels/:slug/revoke",
      credential: "secretKey",
      summary: "End all visitor tokens of an account",
      description:
        "From then on each of them is 401, on every device; the account and its threads stay. 204 also where there is no such account, or no token.",
      body: { schema: revokeSchema, example: { externalUserId: "account-7" } },
      answers: { 204: "No token of the account is valid any more" },
      async handle({ caller: { slug }, body }) {
        await visitors.revoke({ slug, externalId: body.externalUserId });
        return emptyAnswer(204);
      },
    }),
  ];
}
