import { addUsage } from "../../../machines/run.ts";
import type { Message, RunRecord } from "../../domain/threads/message.ts";
import type { ToldEvent, WebhookEvent } from "../../domain/channels/webhook.ts";
import type { ThreadSnapshot } from "../../charts/charts.ts";
import type { PlannedChange } from "./plan-change.ts";

/** The webhook events of a planned change, in the order in which they happened. */
export function toldEvents({
  change,
  before,
  next,
  nowMs,
  newId,
}: {
  change: PlannedChange;
  before: ThreadSnapshot;
  next: ThreadSnapshot;
  nowMs: number;
  newId: () => string;
}): ToldEvent[] {
  const { endedRun, run, messages, move } = change;
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
  const handOffs = handOffsOf(move.event, { before, next });
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
  event: string,
  { before, next }: Move,
): { type: WebhookEvent; data: Record<string, unknown> }[] {
  const person = next.context.person;
  const { epoch } = next.context;
  const back = (how: string) => ({
    type: "handoff.returned" as const,
    data: { epoch, how, ...(before.context.person?.name ? { by: before.context.person.name } : {}) },
  });
  const requested = {
    type: "handoff.requested" as const,
    data: {
      epoch,
      askedBy: person?.askedBy ?? null,
      reason: person?.reason ?? null,
      summary: person?.summary ?? null,
      ...(person?.queue === undefined ? {} : { queue: person.queue }),
    },
  };
  switch (event) {
    case "agent.handedOff":
    case "person.asked":
    case "person.queued":
      return [requested];
    case "person.took":
      return [{ type: "handoff.taken", data: { epoch, by: person?.name ?? null } }];
    case "answer.expired":
      return [back("unanswered"), requested];
    case "person.returned":
      return [back("returned")];
    case "person.closed":
      return [back("closed")];
    case "person.unasked":
      return [back("cancelled")];
    case "wait.expired":
      return [back("expired")];
    default:
      return [];
  }
}
