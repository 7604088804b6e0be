import { z } from "zod";
import type { Threads } from "../actors/threads.ts";
import type { Store } from "../store.ts";
import { documentedJson } from "./reference/shared-documentation.ts";
import { jsonAnswer } from "./route.ts";
import type { Documentation, Route } from "./route.ts";

/** What `/health` answers besides the store's state. Nothing secret. */
export interface HealthFacts {
  model: "openai" | "demo";
  version?: string;
  /** Who answers where a channel names no model, PROVIDER/MODEL, the first first. */
  answers?: readonly string[];
}

const health = z.object({
  status: z.enum(["ok", "unavailable"]),
  store: z.enum(["redis", "embedded"]),
  model: z.enum(["openai", "demo"]),
  version: z.string().optional(),
  answers: z
    .array(z.string())
    .optional()
    .describe("Models that answer where a channel names none, the first first"),
  ready: z.boolean().optional().describe("It can save, and takes messages; not with `live`"),
  warnings: z
    .array(z.string())
    .optional()
    .describe(
      "What the store's settings cannot keep, tool servers that cannot be used, and models that nobody answers to; not with `live`",
    ),
});

const documentation: Documentation = {
  summary: "Health",
  description:
    "Whether this instance is ready: its store takes a change, and it is not about to stop. With `live` it is not asked whether it is ready: the process answers, and that is all.",
  credential: null,
  params: {},
  query: {
    live: {
      description: "Given with any value, or none: the store is not asked",
      schema: z.string(),
      required: false,
      example: "1",
    },
  },
  headers: {},
  body: null,
  answers: {
    200: documentedJson("The service is ready, or alive where that was asked", health, {
      status: "ok",
      store: "embedded",
      model: "demo",
      ready: true,
      warnings: [],
    }),
    503: documentedJson("The store takes no change, or the service is about to stop", health, {
      status: "unavailable",
      store: "redis",
      model: "openai",
      ready: false,
      warnings: [],
    }),
  },
};

/**
 * GET /health: may traffic come to this instance? The store is written to: one that can only be read saves no message.
 * `?live`: does the process live? A store that is away is no reason to kill it: its runs wait with their saves.
 */
export function healthRoute({
  store,
  threads,
  facts,
  warnings: others = () => [],
}: {
  store: Pick<Store, "kind" | "health">;
  threads: Pick<Threads, "isDraining">;
  facts: HealthFacts;
  /** What else works badly, one sentence each. */
  warnings?: () => string[];
}): Route {
  return {
    method: "GET",
    path: "/health",
    api: "open",
    documentation,
    async handle({ request }) {
      const known = { store: store.kind, ...facts };
      if (new URLSearchParams(request.query).has("live")) return jsonAnswer(200, { status: "ok", ...known });
      const { reachable, warnings } = await store.health();
      const ready = reachable && !threads.isDraining();
      const status = ready ? "ok" : "unavailable";
      return jsonAnswer(ready ? 200 : 503, { status, ...known, ready, warnings: [...warnings, ...others()] });
    },
  };
}
