import { z } from "zod";
import { operatorView } from "../../operators/operators.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Route } from "../route.ts";
import { EVERY_ROLE, operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";

export const operatorSchema = z.object({
  name: z.string(),
  role: z.enum(["admin", "agent", "auditor"]),
  channels: z.array(z.string()).nullable().describe("Slugs that it is limited to; null: none"),
});

/** GET /v1/operator/me: the operator whose key is sent. */
export function meRoute(api: OperatorApi): Route {
  return operatorRoute(api, {
    method: "GET",
    path: "/me",
    roles: EVERY_ROLE,
    scope: "channels",
    summary: "Who I am",
    description: "",
    answers: {
      200: documentedJson("The operator", operatorSchema, { name: "ada", role: "agent", channels: ["shop"] }),
    },
    handle: async ({ operator }) => jsonAnswer(200, operatorView(operator)),
  });
}
