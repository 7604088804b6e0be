import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { documentedJson } from "../reference/shared-documentation.ts";
import { jsonAnswer } from "../route.ts";
import type { OperatorApi } from "./operator-api.ts";

const unreadableSchema = z.object({
  items: z.array(z.object({ kind: z.enum(["channel", "operator"]), why: z.string() })),
});

export type Unreadable = z.infer<typeof unreadableSchema>;

/** GET /v1/operator/unreadable: what the lists of channels and operators leave out. */
export function unreadableEndpoint({ store }: Pick<OperatorApi, "store">) {
  return endpoint({
    method: "GET",
    path: "/v1/operator/unreadable",
    credential: "operatorKey",
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
      await store.channels(({ error }) => items.push({ kind: "channel", why: error.message }));
      await store.operators(({ message }) => items.push({ kind: "operator", why: message }));
      return jsonAnswer(200, { items });
    },
  });
}
