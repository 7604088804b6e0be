import { z } from "zod";
import type { WidgetAdmission } from "../../admission/widget-admission.ts";
import type { Config } from "../../config.ts";
import { documentedJson, originHeader, widgetRefusals } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";

const answer = z.object({
  maxBodyBytes: z.int().describe("WIDGET_MAX_BODY_BYTES: a message with all its images must fit"),
  images: z.literal(true).optional().describe("Only where the channel's agent.images allows attachments"),
});

const documentation: Documentation = {
  summary: "What the channel allows",
  description: "For a page that has no visitor yet: it makes none, and looks nothing up in the store.",
  credential: "publishableKey",
  params: {},
  query: {},
  headers: originHeader,
  body: null,
  answers: {
    200: documentedJson("What a composer must know", answer, { maxBodyBytes: 131_072, images: true }),
    ...widgetRefusals(["unauthorized", "forbidden", "too-large", "rate-limited", "unavailable"], {
      unauthorized: "Unknown publishable key",
    }),
  },
};

/** GET /v1/widget/channel: what a page may offer its visitor before there is one. */
export function channelRoute(dependencies: {
  admission: Pick<WidgetAdmission, "page">;
  config: Pick<Config, "limits">;
}): Route {
  const { admission, config } = dependencies;
  return {
    method: "GET",
    path: "/v1/widget/channel",
    api: "widget",
    documentation,
    async handle(incoming) {
      const { agent } = admission.page(incoming, { counts: ["reads-by-address"] });
      const { maxBodyBytes } = config.limits;
      return jsonAnswer(200, { maxBodyBytes, ...(agent.images === true ? { images: true } : {}) });
    },
  };
}
