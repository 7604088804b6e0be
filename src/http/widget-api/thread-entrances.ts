import type { z } from "zod";
import { attempt, queryOf } from "../body.ts";
import type { RouteRequest } from "../route.ts";
import { asRead, inPath } from "./gate.ts";
import type { ThreadEntrance } from "./gate.ts";
import { noBody } from "./request-readers.ts";

/** The entrances of routes that read the thread in their path: on the widget API, and on the front ends' own paths. */

/** For a reply that is streamed again: loads the last run, its text in the parts in which it was stored. */
export function toReply(incoming: RouteRequest): ThreadEntrance<null> {
  return { ...asRead, read: noBody, threadName: inPath(incoming), loads: "last-in-parts" };
}

/** For the history, as the query asks. */
export function toHistory<Query>(incoming: RouteRequest, query: z.ZodType<Query>): ThreadEntrance<Query> {
  return {
    ...asRead,
    read: async (request) => attempt(() => queryOf(request, query)),
    threadName: inPath(incoming),
    loads: null,
  };
}
