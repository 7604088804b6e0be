import type { z } from "zod";
import { attempt, queryOf } from "../body.ts";
import type { RouteRequest } from "../route.ts";
import { asRead, inPath } from "./gate.ts";
import type { ThreadEntrance } from "./gate.ts";
import { noBody } from "./request-readers.ts";

/** How routes come in that read the thread which their path names: on the widget API, and on the front ends' own paths. */

/** To a reply that is streamed again: the last run, in the parts that it was stored in. */
export function toReply(incoming: RouteRequest): ThreadEntrance<null> {
  return { ...asRead, read: noBody, threadName: inPath(incoming), loads: "last-in-parts" };
}

/** To what was said, as the query asks. */
export function toHistory<Query>(incoming: RouteRequest, query: z.ZodType<Query>): ThreadEntrance<Query> {
  return {
    ...asRead,
    read: async (request) => attempt(() => queryOf(request, query)),
    threadName: inPath(incoming),
    loads: null,
  };
}
