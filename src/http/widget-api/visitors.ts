import { z } from "zod";
import type { WidgetAdmission } from "../../admission/widget-admission.ts";
import type { Visitors } from "../../actors/visitors.ts";
import type { Config } from "../../config.ts";
import { documentedJson, originHeader, widgetRefusals } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const documentation: Documentation = {
  summary: "Create an anonymous visitor",
  description:
    "Answers a token for all other widget endpoints. Its lifetime is extended on every use. No body.",
  credential: "publishableKey",
  params: {},
  query: {},
  headers: originHeader,
  body: null,
  answers: {
    201: documentedJson(
      "The visitor's token",
      z.object({ visitorToken: z.string(), expiresAt: z.int().describe("Unix time in milliseconds") }),
      {
        visitorToken: "vt_shop_lO1bP0w3p8m8nM3yYcWkqf0o9yXv1n2dTt7y3gk5f1E",
        expiresAt: 1_800_000_000_000,
      },
    ),
    ...widgetRefusals(["unauthorized", "forbidden", "too-large", "rate-limited", "unavailable"], {
      unauthorized: "Unknown publishable key",
    }),
  },
};

/** POST /v1/widget/visitors: an anonymous visitor. Also in whitelist mode, or no visitor could be identified there. */
export function visitorsRoute(dependencies: {
  admission: Pick<WidgetAdmission, "page">;
  visitors: Pick<Visitors, "mint">;
  config: Pick<Config, "limits">;
}): Route {
  const { admission, visitors, config } = dependencies;
  return {
    method: "POST",
    path: "/v1/widget/visitors",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { slug } = admission.page(incoming);
      await incoming.request.body(config.limits.maxBodyBytes);
      const { visitorToken, expiresAt, userId } = await visitors.mint(slug);
      incoming.note({ userId });
      return jsonAnswer(201, { visitorToken, expiresAt });
    },
  };
}
