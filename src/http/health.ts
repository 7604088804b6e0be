import { z } from "zod";
import type { Threads } from "../threads/threads.ts";
import type { KeyDoor } from "../admission/key-door.ts";
import { keyCheck } from "../admission/keys.ts";
import type { Clock } from "../clock.ts";
import type { Secret } from "../secret.ts";
import type { Store, StoreHealth } from "../store.ts";
import { endpoint } from "./endpoint.ts";
import { documentedJson } from "./reference/shared-documentation.ts";
import { jsonAnswer } from "./route.ts";

/** What `/health` answers besides the store's state. Nothing secret. */
export interface HealthFacts {
  model: "openai" | "demo";
  version?: string;
  /** The models for channels that name none, PROVIDER/MODEL, in the order in which they are tried. */
  answers?: readonly string[];
  /** How models are asked, by PROVIDER/MODEL. */
  ways?: Readonly<Record<string, string>>;
}

/** What is known of one model beside the settings. */
const modelNote = z.object({
  quirk: z.string().describe("`gone`, or what it is sent otherwise"),
  says: z.string(),
  remedy: z.string(),
  lasts: z.boolean().describe("False: only turns that meet it are sent otherwise"),
  forSeconds: z.number().describe("Until it is asked again; 0: until it answers"),
});
export type HealthNotes = Record<string, z.infer<typeof modelNote>[]>;

const health = z.object({
  status: z.enum(["ok", "unavailable"]),
  store: z.enum(["redis", "embedded"]),
  model: z.enum(["openai", "demo"]),
  version: z.string().optional(),
  answers: z
    .array(z.string())
    .optional()
    .describe("Models that answer where a channel names none, the first first"),
  ways: z
    .record(z.string(), z.string())
    .optional()
    .describe("How the models of the settings are asked, by PROVIDER/MODEL: `chat`, `responses`"),
  ready: z.boolean().optional().describe("It can save, and takes messages; not with `live`"),
  warnings: z
    .array(z.string())
    .optional()
    .describe(
      "Only with the transport key: what the settings cannot keep, tool servers that cannot be used, and models that nobody answers to; not with `live`",
    ),
  models: z
    .record(z.string(), z.array(modelNote))
    .optional()
    .describe(
      "Only with the transport key, by PROVIDER/MODEL: what models refused, so that they are sent it otherwise, and which are gone; in this process, not with `live`",
    ),
});

function notesIn(models: HealthNotes): { models?: HealthNotes } {
  return Object.keys(models).length > 0 ? { models } : {};
}

/** Anybody may call this without a key, so the store is asked at most once in this time. */
const READ_EVERY_MS = 1_000;

/** The store's health, at most a second old; calls during a reading share its answer. */
function recentHealth(store: Pick<Store, "health">, clock: Clock): () => Promise<StoreHealth> {
  let last: { atMs: number; health: Promise<StoreHealth> } | null = null;
  return () => {
    const now = clock.elapsed();
    if (!last || now - last.atMs >= READ_EVERY_MS) last = { atMs: now, health: store.health() };
    return last.health;
  };
}

/**
 * GET /health: is this instance ready for traffic? The check writes to the store, because a read-only store saves no message.
 * `?live`: is the process alive? An outage of the store is no reason to kill it: its runs wait with their saves.
 * Warnings about settings are shown only with the transport key.
 */
export function healthEndpoint({
  store,
  threads,
  isStarting = () => false,
  clock,
  transportKeys,
  keyDoor,
  facts,
  warnings: others = () => [],
  models = () => ({}),
}: {
  store: Pick<Store, "kind" | "health">;
  threads: Pick<Threads, "isDraining">;
  /** True: something that the start makes, such as the demo channel, is not there yet. By default false. */
  isStarting?: () => boolean;
  clock: Clock;
  transportKeys: readonly Secret[];
  keyDoor: Pick<KeyDoor, "holds">;
  facts: HealthFacts;
  /** Other warnings, one sentence each. */
  warnings?: () => string[];
  /** By PROVIDER/MODEL. */
  models?: () => HealthNotes;
}) {
  const healthOfStore = recentHealth(store, clock);
  const isTransportKey = keyCheck(...transportKeys);
  return endpoint({
    method: "GET",
    path: "/health",
    credential: "none",
    summary: "Health",
    description:
      "Whether this instance is ready: its store takes a change, it has started, and it is not about to stop. With `live` it is not asked whether it is ready: the process answers, and that is all.",
    query: {
      live: { description: "Given with any value, or none: the store is not asked", example: "1" },
    },
    answers: {
      200: documentedJson("The service is ready, or alive where that was asked", health, {
        status: "ok",
        store: "embedded",
        model: "demo",
        ready: true,
      }),
      503: documentedJson(
        "The store takes no change, or the service is still starting, or about to stop",
        health,
        {
          status: "unavailable",
          store: "redis",
          model: "openai",
          ready: false,
        },
      ),
    },
    async handle({ request, query: { live } }) {
      const known = { store: store.kind, ...facts };
      if (live !== null) return jsonAnswer(200, { status: "ok", ...known });
      const { reachable, warnings } = await healthOfStore();
      const ready = reachable && !isStarting() && !threads.isDraining();
      const status = ready ? "ok" : "unavailable";
      const told = keyDoor.holds(request, isTransportKey)
        ? { warnings: [...warnings, ...others()], ...notesIn(models()) }
        : {};
      return jsonAnswer(ready ? 200 : 503, { status, ...known, ready, ...told });
    },
  });
}
