import type { Person } from "../../../machines/person.ts";
import type { AnswererChange } from "../../domain/threads/answerer-change.ts";
import { addUsage } from "../../../machines/run.ts";
import type { Message, RunRecord } from "../../domain/threads/message.ts";
import type { ToldEvent, WebhookEvent } from "../../domain/channels/webhook.ts";
import type { ThreadSnapshot } from "../../charts/charts.ts";
import type { PlannedChange } from "./plan-change.ts";

/** The webhook events of a planned change, in the order in which they happened. */
export function toldEvents({
  change,
  answerer,
  before,
  next,
  nowMs,
  newId,
}: {
  change: PlannedChange;
  answerer: AnswererChange | null;
  before: ThreadSnapshot;
  next: ThreadSnapshot;
  nowMs: number;
  newId: () => string;
}): ToldEvent[] {
  const { endedRun, run, messages } = change;
  const event = (type: WebhookEvent, data: Record<string, unknown>): ToldEvent => ({
    id: `msg_${newId()}`,
    type,
    atMs: nowMs,
    data,
  });
  const created = messages
    .filter(({ aside }) => !aside)
    .map((message) => ({
      ...event("message.created", {}),
      atMs: message.createdAtMs,
      messageId: message.id,
    }));
  const ended = [endedRun, run].flatMap((one) =>
    one?.outcome ? [event("run.ended", endOf(one, { messages, before, next, nowMs }))] : [],
  );
  const handOffs = answerer ? handOffsOf(answerer, next.context.person) : [];
  return [...created, ...ended, ...handOffs.map(({ type, data }) => event(type, data))];
}

type Move = { before: ThreadSnapshot; next: ThreadSnapshot };

function endOf(
  { runId, outcome, saidAtMs }: RunRecord,
  { messages, before, next, nowMs }: Move & { messages: readonly Message[]; nowMs: number },
): Record<string, unknown> {
  const known = before.context.run?.id === runId ? before.context.run.usage : null;
  const { input = 0, output = 0 } = addUsage(known, usageOfMove({ before, next })) ?? {};
  const elapsedMs = Math.max(0, nowMs - saidAtMs);
  const model = messages.find((message) => message.runId === runId && message.model !== undefined)?.model;
  return {
    runId,
    outcome,
    inputTokens: input,
    outputTokens: output,
    elapsedMs,
    ...(model === undefined ? {} : { model }),
  };
}

/** The usage of the model call that the event ended: the chart has added it to the thread's total. */
function usageOfMove({ before, next }: Move): { input: number; output: number } | null {
  const [then, now] = [before.context.usage, next.context.usage];
  return now && { input: now.input - (then?.input ?? 0), output: now.output - (then?.output ?? 0) };
}

function handOffsOf(
  { how, epoch, by, queue, reason }: AnswererChange,
  person: Person | null,
): { type: WebhookEvent; data: Record<string, unknown> }[] {
  const back = {
    type: "handoff.returned" as const,
    data: { epoch, how, ...(by === undefined ? {} : { by }) },
  };
  const requested = {
    type: "handoff.requested" as const,
    data: {
      epoch,
      askedBy: person?.askedBy ?? null,
      reason: reason ?? null,
      summary: person?.summary ?? null,
      ...(queue === undefined ? {} : { queue }),
    },
  };
  const missed = {
    type: "handoff.missed" as const,
    data: { epoch, reason: reason ?? null, ...(queue === undefined ? {} : { queue }) },
  };
  switch (how) {
    case "asked":
    case "queued":
      return [requested];
    case "taken":
      return [{ type: "handoff.taken", data: { epoch, by: by ?? null } }];
    case "unanswered":
      return [back, requested];
    case "returned":
    case "closed":
    case "cancelled":
      return [back];
    case "expired":
      return [back, missed];
  }
}
