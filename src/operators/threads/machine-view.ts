import { z } from "zod";
import type { RunSummary, ThreadRecord } from "../../store.ts";
import type { Speaker } from "../../domain/threads/message.ts";
import type { MachineView, RunView, VisitorView } from "../accounts/sight.ts";

/** The parts of a snapshot of machines/thread.ts that the console shows; the rest is not sent. */
const snapshot = z.object({
  value: z.union([z.string(), z.record(z.string(), z.string())]),
  context: z.object({
    run: z
      .object({
        attempt: z.number(),
        toolCalls: z.number(),
        calls: z.array(z.object({ tool: z.string() })),
        deadlineMs: z.number().nullable(),
        usage: z.object({ input: z.number(), output: z.number() }).nullable(),
      })
      .nullable(),
  }),
});

/** Throws if the snapshot is of another chart. */
export function machineView(record: ThreadRecord): MachineView {
  const { uid, slug, rev, fence, waitingCount, messageCount, run: lastRun } = record;
  const frozen = record.snapshot === null ? null : snapshot.parse(JSON.parse(record.snapshot));
  const run = frozen?.context.run ?? null;
  return {
    id: uid,
    slug,
    rev,
    state: frozen === null ? "idle" : pathOf(frozen.value),
    holder: fence === null ? null : fence.slice(0, fence.lastIndexOf(":")),
    waiting: waitingCount,
    messages: messageCount,
    sums: run && { ...run, calls: run.calls.map(({ tool }) => tool) },
    visitor: lastRun && visitorView(lastRun.speaker),
  };
}

function visitorView({ page, customerContext, locale }: Speaker): VisitorView {
  return { page, context: customerContext, locale: locale ?? null };
}

export function runView({ runId, saidAtMs, outcome, path }: RunSummary): RunView {
  return { runId, saidAtMs, outcome, path };
}

/** `running.thinking` for `{ running: "thinking" }`. */
function pathOf(value: string | Record<string, string>): string {
  if (typeof value === "string") return value;
  return Object.entries(value).flat().join(".");
}
