import { z } from "zod";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { Route } from "../route.ts";
import { operatorRoute } from "./operator-route.ts";
import type { OperatorApi } from "./operator-route.ts";

const unreadableSchema = z.object({
  items: z.array(z.object({ kind: z.enum(["channel", "operator"]), why: z.string() })),
});

export type Unreadable = z.infer<typeof unreadableSchema>;

/** GET /v1/operator/unreadable: what the lists of channels and operators leave out. */
export function unreadableRoute(api: OperatorApi): Route {
  return operatorRoute(api, {
    method: "GET",
    path: "/unreadable",
    roles: ["admin"],
    scope: "installation",
    summary: "List the channels and operators that cannot be read",
    description:
      "Their records are damaged, or a newer version wrote them; the other lists are without them.",
    answers: {
      200: documentedJson("One sentence for each", unreadableSchema, {
        items: [{ kind: "channel", why: "Cannot read channel shop: its record is damaged" }],
      }),
    },
    async handle() {
      const items: Unreadable["items"] = [];
      await api.store.channels(({ error }) => items.push({ kind: "channel", why: error.message }));
      await api.store.operators(({ message }) => items.push({ kind: "operator", why: message }));
      return jsonAnswer(200, { items });
    },
  });
}
