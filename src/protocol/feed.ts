/** The lines of a thread's feed, and of the operators': none of them is the last, but `deleted`. */
import { z } from "zod";
import { historyItem } from "./history.ts";
import { channelThread } from "./threads.ts";

/** An item came into the thread's history. */
export const messageFeedLine = z.object({
  type: z.literal("message"),
  /** As the history has it. */
  item: historyItem,
});

const runId = z.string().describe("Its stream can be read along: …/stream?run=");

/** What goes on in the thread now; told first when a feed begins, and after each change. */
export const stateFeedLine = z.union([
  z.object({ type: z.literal("state"), state: z.literal("idle") }),
  /** `runId`: of the run that works, or waits for its page. */
  z.object({ type: z.literal("state"), state: z.enum(["running", "awaiting"]), runId }),
  /** `waitingSince`: Unix time in milliseconds. */
  z.object({
    type: z.literal("state"),
    state: z.literal("waiting_for_person"),
    waitingSince: z.int().describe("Unix time in milliseconds"),
  }),
  /** `with`: the person's name. */
  z.object({
    type: z.literal("state"),
    state: z.literal("with_person"),
    with: z.string().describe("The person's name"),
  }),
]);
export type StateFeedLine = z.infer<typeof stateFeedLine>;

/** More was missed than a feed tells: read the history. */
export const resetFeedLine = z.object({ type: z.literal("reset") });

/** The thread is gone. The last line: the feed ends. */
export const deletedFeedLine = z
  .object({ type: z.literal("deleted") })
  .describe("The thread is gone; the feed ends");

/** A person writes; counts for six seconds. */
export const typingFeedLine = z.object({
  type: z.literal("typing"),
  /** The person's name. */
  name: z.string().describe("A person of the site writes; counts for six seconds"),
});

const pingFeedLine = z.object({ type: z.literal("ping") });

export const feedLine = z.union([
  messageFeedLine,
  ...stateFeedLine.options,
  resetFeedLine,
  deletedFeedLine,
  typingFeedLine,
  pingFeedLine,
]);
export type FeedLine = z.infer<typeof feedLine>;

/** A line of a thread's feed. Lines of another `type` may come one day: pass over them. */
export const clientFeedLine = z.union([
  messageFeedLine,
  stateFeedLine,
  typingFeedLine,
  resetFeedLine,
  deletedFeedLine,
]);

const cursor = z.string().describe("Where to go on: `after` of the next request");

/** A line of the operators' feed: a thread as it is now, or a sign of life. */
export const eventLine = z.union([
  channelThread.extend({ type: z.literal("thread"), cursor, channel: z.string() }),
  z.object({ type: z.literal("ping"), cursor }),
  z.object({ type: z.literal("reset"), cursor }).describe("`after` is none, or too old: read the lists"),
]);
export type EventLine = z.infer<typeof eventLine>;
