import type { Threads } from "../../threads/threads.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { HttpAnswer } from "../../listener.ts";
import type { ThreadRecord } from "../../store.ts";
import { emptyAnswer } from "../route.ts";
import type { RouteRequest } from "../route.ts";
import { streamAnswer } from "./stream-answer.ts";

export const runField = {
  run: {
    description: "The x-run-id of a stream that was lost: the stream of this run, whatever came after it",
    example: "fJ0bqXz1nUO5o6pVh2xkSA",
  },
} as const;

/**
 * A thread's active or last run again, from its beginning (contract, Re-attaching); with `?run=`, that run. 204 if
 * there was none, Refusal("not-found") if the thread has no such run. `loading`: the thread's record, loading.
 */
export async function followAnswer(
  {
    request,
    note,
    query: { run: runId },
  }: Pick<RouteRequest, "request" | "note"> & { query: { run: string | null } },
  threads: Pick<Threads, "follow" | "followRun">,
  { uid, loading }: { uid: string; loading?: Promise<ThreadRecord | null> },
): Promise<HttpAnswer> {
  const reply = await (runId === null
    ? threads.follow(uid, loading)
    : threads.followRun(uid, runId, loading));
  if (!reply && runId !== null) throw new Refusal("not-found", "The thread has no such run");
  if (!reply) return emptyAnswer(204);
  note({ runId: reply.runId });
  return streamAnswer(reply, request);
}
