import { z } from "zod";
import type { Visitors } from "../../visitors/visitors.ts";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";

/** POST /v1/widget/visitors: an anonymous visitor. Also in whitelist mode, or no visitor could be identified there. */
export function widgetVisitors({ visitors }: { visitors: Pick<Visitors, "mint"> }) {
  return [
    endpoint({
      method: "POST",
      path: "/v1/widget/visitors",
      credential: "publishableKey",
      summary: "Create an anonymous visitor",
      description:
        "Answers a token for all other widget endpoints. Its lifetime is extended on every use. No body.",
      answers: {
        201: documentedJson(
          "The visitor's token",
          z.object({ visitorToken: z.string(), expiresAt: z.int().describe("Unix time in milliseconds") }),
          {
            visitorToken: "vt_shop_lO1bP0w3p8m8nM3yYcWkqf0o9yXv1n2dTt7y3gk5f1E",
            expiresAt: 1_800_000_000_000,
          },
        ),
      },
      async handle({ caller: { slug }, note }) {
        const { visitorToken, expiresAt, userId } = await visitors.mint(slug);
        note({ userId });
        return jsonAnswer(201, { visitorToken, expiresAt });
      },
    }),
  ];
}
