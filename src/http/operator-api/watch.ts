import { endpoint } from "../endpoint.ts";
import { z } from "zod";
import type { Feed } from "../../threads/feeds/feed.ts";
import type { Arrival } from "../../admission/arrival.ts";
import type { Operator } from "../../domain/people/operator.ts";
import type { Outlet } from "../../listener.ts";
import { noteReading } from "../../operators/threads/threads.ts";
import { watchThread } from "../../operators/threads/watch-thread.ts";
import type { WatchedThread } from "../../operators/threads/watch-thread.ts";
import { feedLine } from "../../protocol/feed.ts";
import { widgetLine } from "../../protocol/lines.ts";
import { createFewOpen } from "../feeds/few-open.ts";
import { feedAnswer, feedFields } from "../feeds/feed-answer.ts";
import { encodeObjects } from "../stream/ndjson.ts";
import type { OperatorApi } from "./operator-api.ts";

/** A line of the watch: the feed's, and those of the thread's chart. */
const watchLine = z.union([
  feedLine,
  z.object({ type: z.literal("untouched") }).describe("Nothing was said in the thread yet"),
  z.object({ type: z.literal("thread"), thread: z.looseObject({ state: z.string() }) }),
  z.object({ type: z.literal("runs"), runs: z.array(z.looseObject({ runId: z.string() })) }),
  z.object({
    type: z.literal("said"),
    runId: z.string(),
    fresh: z.boolean().describe("The first lines: everything since the user's message"),
    lines: z.array(widgetLine),
  }),
  z.object({ type: z.literal("trouble"), message: z.string() }),
  z.object({ type: z.literal("beat") }),
]);

/** Of one operator in this process. A browser shows one conversation in each tab. */
const MOST_FOR_AN_OPERATOR = 20;
/** How often an open watch checks that its operator may still see it. */
const LOOK_MS = 1_000;

/** GET /v1/operator/channels/:slug/threads/:id/watch: a conversation, live, for the console. */
export function watchEndpoint(api: Pick<OperatorApi, "admission" | "store" | "threads" | "reads" | "log">) {
  const few = createFewOpen(MOST_FOR_AN_OPERATOR);
  return endpoint({
    method: "GET",
    path: "/v1/operator/channels/:slug/threads/:id/watch",
    credential: "operatorKey",
    roles: ["admin", "agent"],
    finds: "thread",
    summary: "Watch a thread: its messages, its replies as they are written, its chart",
    description:
      "Stays open: the lines of a thread's feed, and beside them `thread` (its state, sums and visitor), `runs` (the newest, then those that changed) and `said` (a run's lines as they come). The reading is in the audit. Ends within a second of its key. At most 20 at a time for an operator, of which the oldest ends.",
    query: feedFields,
    answers: {
      200: {
        description: "The watch. It has no closing line: come back with the id of the last item",
        headers: {},
        body: {
          type: "application/x-ndjson",
          schema: watchLine,
          example: { type: "state", state: "idle" },
        },
      },
    },
    refusals: { "not-found": "Unknown channel or thread, or nothing was said in it yet" },
    async handle(asked) {
      const { caller, acting, query } = asked;
      const { slug, uid } = asked.thread;
      api.reads.mayBegin();
      await noteReading(acting, slug, uid);
      const feed = await api.threads.openFeed(uid, query.after);
      let beside: WatchedThread | null = null;
      const isOver = few.add(caller.name, () => feed.end());
      return feedAnswer(
        // Reads the chart as soon as the feed sends lines, not up to a second later.
        heard(feed, () => beside?.poke()),
        () => {
          isOver();
          beside?.stop();
        },
        (outlet) =>
          (beside = watchBeside(api, {
            arrival: asked,
            operator: caller,
            uid,
            outlet,
            onRefused: () => feed.end(),
          })),
      );
    },
  });
}

/** The same feed; calls `onLines` when it sends lines. */
function heard(feed: Feed, onLines: () => void): Feed {
  return {
    read: (reader) =>
      feed.read({
        write(lines) {
          reader.write(lines);
          onLines();
        },
        onDrained: (callback) => reader.onDrained(callback),
        end: () => reader.end(),
      }),
    end: () => feed.end(),
    leave: () => feed.leave(),
  };
}

/** Writes the thread's state until it is stopped; `onRefused`: the operator may no longer see it. */
function watchBeside(
  { store, threads, log, admission }: Pick<OperatorApi, "store" | "threads" | "log" | "admission">,
  watch: { arrival: Arrival; operator: Operator; uid: string; outlet: Outlet; onRefused: () => void },
): WatchedThread {
  const { arrival, operator, uid, outlet, onRefused } = watch;
  const before = JSON.stringify(operator);
  const isStillAllowed = () => {
    try {
      return JSON.stringify(admission.admit(arrival)) === before;
    } catch {
      return false;
    }
  };
  const looking = setInterval(() => isStillAllowed() || onRefused(), LOOK_MS).unref();
  const watched = watchThread({ store, threads, log }, uid, (sight) => outlet.write(encodeObjects([sight])));
  return {
    poke: () => watched.poke(),
    stop() {
      clearInterval(looking);
      watched.stop();
    },
  };
}
