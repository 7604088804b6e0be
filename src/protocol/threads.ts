import { z } from "zod";

/**
 * What goes on in a thread: nothing, a run, a run that waits for a tool of its page, a person is waited for, a person
 * answers.
 */
export const threadState = z.enum(["idle", "running", "awaiting", "waiting_for_person", "with_person"]);
export type ThreadState = z.infer<typeof threadState>;

/** A thread in the list of a user's threads. */
export const listedThread = z.object({
  /** Your own id of it; of a conversation that a visitor began on a page, the service's. */
  threadId: z.string(),
  createdAt: z.int().describe("Unix time in milliseconds"),
  /** When a message came into the history last: Unix time in milliseconds. */
  updatedAt: z.int().describe("Unix time in milliseconds: when a message came into the history last"),
  /** What goes on in it now. */
  state: threadState.describe(
    "`awaiting`: a run waits for the result of a tool of the page; `waiting_for_person`, `with_person`: no model answers",
  ),
});
export type ListedThread = z.infer<typeof listedThread>;

/** A page of the list of a user's threads. */
export const threadPage = z.object({
  /** The latest activity first. */
  items: z.array(listedThread),
  next: z.string().nullable().describe("The `cursor` of the next page; null on the last one"),
});
export type ThreadPage = z.infer<typeof threadPage>;

/** A thread as operators see it. */
export const channelThread = z.object({
  id: z.string().describe("The service's own id"),
  threadId: z.string().describe("The caller's id, or the widget's"),
  userId: z.string().describe("The service's id of the user"),
  state: threadState,
  createdAt: z.int().describe("Unix time in milliseconds"),
  updatedAt: z
    .int()
    .describe("When a message came into the history last, or, of an empty thread, when it was made"),
  epoch: z.int().describe("Counts the changes of who answers"),
  handoff: z
    .object({
      askedBy: z.enum(["model", "visitor", "transport"]).nullable(),
      waitingSince: z
        .int()
        .exactOptional()
        .describe("Unix time in milliseconds; only while the thread waits"),
      with: z.string().exactOptional().describe("The operator who has the thread"),
      answerBy: z
        .int()
        .exactOptional()
        .describe(
          "Unix time in milliseconds: then the thread waits for a person again, unless that operator answers",
        ),
      shownAs: z.string().exactOptional().describe("What visitors call that operator"),
      reason: z.string().exactOptional().describe("Of one thread alone, and not for the auditor"),
      summary: z
        .string()
        .exactOptional()
        .describe("The model's; of one thread alone, and not for the auditor"),
    })
    .exactOptional()
    .describe("Only while a person is waited for or has the thread"),
  approval: z
    .enum(["visitor", "operator"])
    .exactOptional()
    .describe("Only while the run waits until one of these approves a call"),
  title: z
    .string()
    .exactOptional()
    .describe("First line of the first message; this and what follows not for the auditor"),
  preview: z.string().exactOptional().describe("First line of the last item"),
  displayName: z.string().exactOptional().describe("The user's, or what the page says"),
  page: z.string().exactOptional().describe("Where the visitor was with the last message, as the page says"),
  found: z.string().exactOptional().describe("Of a search: the latest line that has one of the words"),
  labels: z.array(z.string()).exactOptional().describe("The operators'"),
  queue: z.string().exactOptional().describe("Whose operators should answer; absent: any"),
  assignedTo: z.string().exactOptional().describe("The operator who has the thread"),
  snoozedUntil: z
    .int()
    .exactOptional()
    .describe("Unix time in milliseconds: an operator wants to see it then, or with the next message"),
});
export type ChannelThread = z.infer<typeof channelThread>;
