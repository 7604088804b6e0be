import { z } from "zod";
import type { Store } from "../store.ts";
import { documentedJson } from "./reference/shared-documentation.ts";
import { jsonAnswer } from "./route.ts";
import type { Documentation, Route } from "./route.ts";

/** What `/health` answers besides the store's state. Nothing secret. */
export interface HealthFacts {
  model: "openai" | "demo";
  version?: string;
}

const health = z.object({
  status: z.enum(["ok", "unavailable"]),
  store: z.enum(["redis", "embedded"]),
  model: z.enum(["openai", "demo"]),
  version: z.string().optional(),
  warnings: z.array(z.string()).describe("Promises that the store's settings cannot keep"),
});

const documentation: Documentation = {
  summary: "Health",
  description: "Whether the store can be reached, and which store and model serve.",
  credential: null,
  params: {},
  query: {},
  headers: {},
  body: null,
  answers: {
    200: documentedJson("The service is well", health, {
      status: "ok",
      store: "embedded",
      model: "demo",
      warnings: [],
    }),
    503: documentedJson("The store cannot be reached", health, {
      status: "unavailable",
      store: "redis",
      model: "openai",
      warnings: [],
    }),
  },
};

/** GET /health: can this instance serve? */
export function healthRoute({
  store,
  facts,
}: {
  store: Pick<Store, "kind" | "health">;
  facts: HealthFacts;
}): Route {
  return {
    method: "GET",
    path: "/health",
    api: "open",
    documentation,
    async handle() {
      const { reachable, warnings } = await store.health();
      const status = reachable ? "ok" : "unavailable";
      return jsonAnswer(reachable ? 200 : 503, { status, store: store.kind, ...facts, warnings });
    },
  };
}
