import type { DoneLine, ErrorLine, Line, StepLine } from "../../../machines/line.ts";
import type { Translation } from "../stream/sse-answer.ts";

/** The request that a stream answers, and the run that it shows. */
export interface Told {
  /** The client's ids. */
  threadId: string;
  runId: string;
  isNewProtocol: boolean;
  /** The id of the service's own run: its steps are named after it. */
  ofRun: string;
  /** The id of the stream's first message; the next ones are named after it. */
  messageId: string;
  /** Replaces the client's messages before any other event; null: they stay. */
  snapshot: readonly unknown[] | null;
  /** The call that the request has decided: it is not asked for again; null: it has decided none. */
  decided: string | null;
}

/**
 * Our lines as events of AG-UI. An event or field that version 0.0.x does not know breaks that client, so those of 1.0
 * are sent only to clients that announce it.
 *
 * A message is the text between two steps. A stream that continues after a page tool has its own messages: a client
 * runs the calls of messages that it did not have before.
 */
export function agentEvents(told: Told): Translation {
  const { threadId, runId, isNewProtocol } = told;
  let texts = 0;
  let isOpen = false;
  const messageId = () => (texts < 2 ? told.messageId : `${told.messageId}.${texts}`);

  function closed(): object[] {
    if (!isOpen) return [];
    isOpen = false;
    return [{ type: "TEXT_MESSAGE_END", messageId: messageId() }];
  }

  function written(delta: string): object[] {
    const opening = isOpen ? [] : opened();
    return [...opening, { type: "TEXT_MESSAGE_CONTENT", messageId: messageId(), delta }];
  }

  function opened(): object[] {
    isOpen = true;
    texts++;
    return [{ type: "TEXT_MESSAGE_START", messageId: messageId(), role: "assistant" }];
  }

  function finished(outcome: object, facts: object): object {
    return {
      type: "RUN_FINISHED",
      threadId,
      runId,
      ...(isNewProtocol ? { outcome } : {}),
      ...facts,
    };
  }

  function ended(line: ErrorLine): object {
    const { message, code, hint } = line;
    // A cancel is not a failure: for clients that have no event for it, it is a normal end.
    if (code === "cancelled") return finished({ type: "cancelled" }, { result: { code } });
    return {
      type: "RUN_ERROR",
      message,
      ...(code === undefined ? {} : { code }),
      ...(hint === undefined ? {} : { metadata: { hint } }),
    };
  }

  return {
    headers: {},
    opening: [
      runStarted(told),
      ...(told.snapshot ? [{ type: "MESSAGES_SNAPSHOT", messages: told.snapshot }] : []),
    ],
    eventsOf(line: Line) {
      // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- passes over what this protocol has no event for
      switch (line.type) {
        case "delta":
          return written(line.text);
        case "step": {
          const step = { type: "ACTIVITY_SNAPSHOT", ...activityOf(told.ofRun, line), replace: true };
          const interrupts = asks(line) ? [interruptOf(line)] : [];
          const asked = interrupts.length > 0 ? [finished({ type: "interrupt", interrupts }, {})] : [];
          return [...closed(), step, ...asked];
        }
        case "tool_call": {
          const { callId: toolCallId, tool: toolCallName, arguments: input } = line;
          const pendingToolCallIds = [toolCallId];
          return [
            ...closed(),
            { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId: messageId() },
            { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input) },
            { type: "TOOL_CALL_END", toolCallId },
            finished({ type: "success", pendingToolCallIds }, {}),
          ];
        }
        case "done":
          return [...closed(), finished({ type: "success" }, factsOf(line))];
        case "error":
          return [...closed(), ended(line)];
        default:
          return [];
      }
    },
    endsWith: asks,
    closing: "",
  };

  /** Only to clients that know how to answer: to others the step says it, and the stream stays open. */
  function asks(line: Line): boolean {
    if (line.type !== "step" || line.phase !== "running") return false;
    return isNewProtocol && line.approval?.by === "visitor" && line.approval.callId !== told.decided;
  }
}

/** What the visitor is asked: answered by `resume` of the next run, with `{ approved }`. */
function interruptOf({ text, approval }: StepLine): object {
  const { callId, tool, arguments: input } = approval ?? {};
  return {
    id: callId,
    reason: "approval",
    message: text,
    responseSchema: { type: "object", properties: { approved: { type: "boolean" } }, required: ["approved"] },
    metadata: { tool, arguments: input },
  };
}

export function runStarted({ threadId, runId }: Pick<Told, "threadId" | "runId">): object {
  return { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" };
}

/** Progress. Servers' tools are not shown as tools, so no client runs one of them. */
export function activityOf(ofRun: string, { id, phase, text, sources, approval }: Omit<StepLine, "type">) {
  const content = {
    id,
    phase,
    text,
    ...(sources ? { sources } : {}),
    ...(approval ? { approval } : {}),
  };
  return { messageId: `${ofRun}/${id}`, activityType: "step", content };
}

function factsOf({ type: _, ...result }: DoneLine): object {
  const { inputTokens, outputTokens } = result;
  const isCounted = inputTokens !== undefined && outputTokens !== undefined;
  return { result, ...(isCounted ? { usage: [{ inputTokens, outputTokens }] } : {}) };
}
