import { isTerminal } from "../../../../machines/line.ts";
import { follow, INTERRUPTED, isInterrupted } from "../../../client/core/follow.ts";
import { isLine } from "../../../protocol/fits.ts";
import type { DoneLine, ErrorLine, TerminalLine } from "../../../protocol/lines.ts";
import type { ThreadAccess } from "../../service/visitor-session.ts";
import { busySeconds, refusedStatus, runIdOf } from "../../service/widget-api.ts";
import type { ToolResultBody } from "../../tools/tool-result.ts";
import { Backoff } from "./backoff.ts";
import type { ConversationDependencies } from "../conversation-dependencies.ts";
import { messageRequest } from "../messages/outgoing-message.ts";
import type { OutgoingMessage } from "../messages/outgoing-message.ts";
import { pauseBusy } from "./pause.ts";
import type { ShownReply } from "./shown-reply.ts";
import type { ToolCalls } from "./tool-calls.ts";

export interface FollowedRun extends ConversationDependencies {
  thread: ThreadAccess;
  signal: AbortSignal;
  reply: ShownReply;
  /** null: the run was not begun by this tab, which only listens and runs no tools. */
  calls: ToolCalls | null;
  /** The run's id is known. */
  onNamed(runId: string): void;
}

/**
 * Where a stream of the run comes from: the answer to the message just posted, the message once more, a request for
 * the run of this name (without one: the thread's active or last run), or a tool's result.
 */
export type StreamOpening =
  | { type: "answer"; response: Response }
  | { type: "message"; message: OutgoingMessage }
  | { type: "attach"; runId: string | null }
  | { type: "tool-result"; body: ToolResultBody };

export type RunEnd =
  | DoneLine
  | ErrorLine
  /** The thread has had no run. */
  | { type: "none" }
  /** Another tab has to run a tool. */
  | { type: "elsewhere" }
  /** The run cannot be reached; it may continue without this tab. */
  | { type: "lost"; cause: unknown };

/** Posted in place of a refused result; otherwise the agent would wait until the call expires. */
const UNDELIVERABLE = "The tool ran, but its result could not be delivered";

/**
 * Follows a run through its streams. Each tool_call ends one and its result opens the next; a stream that breaks off is
 * reopened by the run's id, and sends its lines again. Rejects only with the signal's reason.
 */
export async function followRun(run: FollowedRun, first: StreamOpening): Promise<RunEnd> {
  const { reply, calls, signal, host } = run;
  const backoff = new Backoff(run, signal);
  const start = reply.beginning();
  let mark = start;
  let opening = first;
  let runId = first.type === "attach" ? first.runId : null;

  async function open(): Promise<Response["body"]> {
    const response = await openStream(run, opening);
    runId = runIdOf(response) ?? runId;
    if (runId !== null) {
      run.onNamed(runId);
      calls?.told(runId);
    }
    reply.rewind(mark);
    return response.status === 204 ? null : response.body;
  }

  async function comeBack(cause: unknown): Promise<void> {
    signal.throwIfAborted();
    const status = refusedStatus(cause);
    if (status === 429) {
      await pauseBusy(run, busySeconds(cause), signal);
    } else if ((status === 413 || status === 422) && isReplaceable(opening)) {
      opening = { type: "tool-result", body: { ...opening.body, result: UNDELIVERABLE, isError: true } };
    } else if (status === 404 && isForgotten(opening, calls)) {
      opening = { type: "message", message: calls.message };
      mark = start;
    } else if (isFinal(status) || !(await backoff.wait(cause))) {
      throw cause;
    } else if (opening.type !== "tool-result" || cause === INTERRUPTED || status === 409) {
      opening = again(runId, calls);
      mark = start;
    }
    // Otherwise a result whose stream was cut is posted again, because it may not have arrived.
  }

  /** Shows the lines of one stream; null: the thread has had no run. */
  async function terminalOf(lines: AsyncIterable<unknown>): Promise<TerminalLine | null> {
    for await (const line of lines) {
      if (!isLine(line)) continue;
      backoff.reset();
      host.emit("line", { line });
      if (!isTerminal(line)) reply.add(line);
      else if (!isInterrupted(line)) return line;
    }
    return null;
  }

  for (;;) {
    let end: TerminalLine | null;
    try {
      end = await terminalOf(follow({ open, comeBack }));
    } catch (cause) {
      signal.throwIfAborted();
      return { type: "lost", cause };
    }
    if (end === null) return { type: "none" };
    if (end.type !== "tool_call") return end;
    if (calls === null) return { type: "elsewhere" };
    mark = reply.mark();
    opening = { type: "tool-result", body: await calls.answer(end) };
    signal.throwIfAborted();
  }
}

/** Reopens the stream in a way that cannot return another run. Asking by id counts against no rate limit. */
function again(runId: string | null, calls: ToolCalls | null): StreamOpening {
  if (runId !== null || calls === null) return { type: "attach", runId };
  return { type: "message", message: calls.message };
}

function isReplaceable(opening: StreamOpening): opening is Extract<StreamOpening, { type: "tool-result" }> {
  return opening.type === "tool-result" && opening.body.result !== UNDELIVERABLE;
}

/** A store that failed over may have lost the run and its message; the message is then sent again. */
function isForgotten(opening: StreamOpening, calls: ToolCalls | null): calls is ToolCalls {
  return opening.type === "attach" && opening.runId !== null && calls !== null;
}

/** 409 is not final: the call is no longer pending, and the thread's stream shows what became of the run. */
function isFinal(status: number): boolean {
  return status > 0 && status < 500 && status !== 409;
}

function openStream(
  { api, host, thread, signal }: FollowedRun,
  opening: StreamOpening,
): Promise<Response> | Response {
  const { visitorToken, threadId } = thread;
  switch (opening.type) {
    case "answer":
      return opening.response;
    case "message":
      return api({ ...messageRequest(opening.message, thread, host), signal });
    case "attach": {
      const { runId } = opening;
      const query = runId === null ? "" : `?run=${encodeURIComponent(runId)}`;
      const path = `/threads/${encodeURIComponent(threadId)}/stream${query}`;
      return api({ path, method: "GET", visitorToken, signal });
    }
    case "tool-result": {
      const body = { ...opening.body, threadId, page: host.page() };
      return api({ path: "/tool-results", visitorToken, body, signal });
    }
  }
}
