import { z } from "zod";
import type { Threads } from "../../actors/threads.ts";
import type { Directory } from "../../admission/directory.ts";
import type { Config } from "../../config.ts";
import { handOffReason, mustAllowHandOff } from "../fields.ts";
import {
  BODY_REFUSALS,
  documentedEmpty,
  originHeader,
  threadParam,
  widgetRefusals,
} from "../reference/shared-documentation.ts";
import { emptyAnswer } from "../route.ts";
import type { Documentation, Route } from "../route.ts";
import { asMessage, inPath } from "./gate.ts";
import type { Gate } from "./gate.ts";
import { ignoredBody, jsonBody } from "./request-readers.ts";

const bodySchema = z.object({ reason: handOffReason });
const NO_HANDOFF = { conflict: "The channel has no hand-off" };

const shared = { credential: "visitorToken", params: threadParam, query: {}, headers: originHeader } as const;

const asking: Documentation = {
  ...shared,
  summary: "Ask for a person",
  description:
    "An active run or pending call ends first, with a done line of handledBy person; then the thread waits, and no model answers. Nothing changes where a person is waited for or has the thread. A visitor may wait in three threads at a time. The body may be absent.",
  body: { schema: bodySchema, example: { reason: "I want my money back" } },
  answers: {
    204: documentedEmpty("The thread waits for a person, or is with one"),
    ...widgetRefusals([...BODY_REFUSALS, "conflict"], {
      ...NO_HANDOFF,
      "rate-limited": "A rate is reached, or the visitor waits for a person in three other threads",
    }),
  },
};

const cancelling: Documentation = {
  ...shared,
  summary: "Wait for a person no longer",
  description: "The assistant answers again. Nothing changes unless the thread waits. No body.",
  body: null,
  answers: {
    204: documentedEmpty("The thread does not wait for a person"),
    ...widgetRefusals(
      ["unauthorized", "forbidden", "not-found", "conflict", "too-large", "unavailable"],
      NO_HANDOFF,
    ),
  },
};

interface Dependencies {
  gate: Gate;
  threads: Pick<Threads, "people">;
  directory: Pick<Directory, "channel">;
  config: Pick<Config, "limits">;
}

/** POST /v1/widget/threads/:id/handoff: the visitor asks for a person (contract, A person takes over). */
export function handOffRoute({ gate, threads, directory, config }: Dependencies): Route {
  const read = jsonBody({ schema: bodySchema, empty: {} }, config.limits.maxBodyBytes);
  return {
    method: "POST",
    path: "/v1/widget/threads/:id/handoff",
    api: "widget",
    documentation: asking,
    async handle(incoming) {
      const { slug, user, uid, body } = await gate.admitToThread(incoming, {
        counts: asMessage.counts,
        read,
        threadName: inPath(incoming),
        loads: null,
      });
      mustAllowHandOff(directory.channel(slug));
      await threads.people.ask({ uid, slug, by: { visitor: user.userId }, reason: body.reason ?? null });
      return emptyAnswer(204);
    },
  };
}

/** POST /v1/widget/threads/:id/handoff/cancel: the visitor stops waiting. */
export function handOffCancelRoute({ gate, threads, directory, config }: Dependencies): Route {
  return {
    method: "POST",
    path: "/v1/widget/threads/:id/handoff/cancel",
    api: "widget",
    documentation: cancelling,
    async handle(incoming) {
      const { slug, uid } = await gate.admitToThread(incoming, {
        counts: [],
        read: ignoredBody(config.limits.maxBodyBytes),
        threadName: inPath(incoming),
        loads: null,
      });
      mustAllowHandOff(directory.channel(slug));
      await threads.people.stopWaiting({ uid, slug });
      return emptyAnswer(204);
    },
  };
}
