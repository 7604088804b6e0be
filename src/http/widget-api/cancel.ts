import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Config } from "../../config.ts";
import {
  documentedEmpty,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { stoppedRun } from "../fields.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { inPath } from "./gate.ts";
import type { Entrance, Gate } from "./gate.ts";
import { ignoredBody, jsonBody } from "./request-readers.ts";

const bodySchema = z.object({ runId: stoppedRun });

export interface CancelDependencies {
  gate: Gate;
  threads: Pick<Threads, "cancel">;
  config: Pick<Config, "limits">;
}

/** A front end's endpoint for it, and its documentation; `threadName` is the path parameter that names the thread. */
export interface CancelEntrance extends Pick<Documentation, "summary" | "description" | "params"> {
  path: string;
  threadName: string;
  /** May the body name the run? Otherwise a body is ignored: a client that sends one means something else by it. */
  namesRun: boolean;
}

/** POST /v1/widget/threads/:id/cancel. */
export function widgetCancelRoute(dependencies: CancelDependencies): Route {
  return cancelRoute(dependencies, {
    path: "/v1/widget/threads/:id/cancel",
    summary: "Stop the active run",
    description:
      "The open stream ends with an error line of code cancelled; what was streamed stays in the history. The body may be absent.",
    params: threadParam,
    threadName: "id",
    namesRun: true,
  });
}

/** Stops the active run or pending call of a visitor's thread (contract, Stopping). */
export function cancelRoute(
  { gate, threads, config }: CancelDependencies,
  { path, threadName, namesRun, ...words }: CancelEntrance,
): Route {
  const { maxBodyBytes } = config.limits;
  const readNamed = jsonBody({ schema: bodySchema, empty: {} }, maxBodyBytes);
  const readNone = ignoredBody(maxBodyBytes);
  const read: Entrance<{ runId?: string | undefined } | null>["read"] = namesRun ? readNamed : readNone;
  return {
    method: "POST",
    path,
    api: "widget",
    documentation: {
      ...words,
      credential: "visitorToken",
      query: {},
      headers: originHeader,
      body: namesRun ? { schema: bodySchema, example: { runId: "fJ0bqXz1nUO5o6pVh2xkSA" } } : null,
      answers: {
        204: documentedEmpty("Nothing runs in the thread now, or not the named run"),
        ...widgetRefusals([
          "unauthorized",
          "forbidden",
          "not-found",
          "too-large",
          "unavailable",
          ...(namesRun ? (["unsupported-encoding", "invalid"] as const) : []),
        ]),
      },
    },
    async handle(incoming) {
      const { uid, body } = await gate.admitToThread(incoming, {
        counts: [],
        read,
        threadName: inPath(incoming, threadName),
        loads: null,
      });
      await threads.cancel(uid, body?.runId ?? null);
      return emptyAnswer(204);
    },
  };
}
