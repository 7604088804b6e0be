import { isTerminal } from "../../../machines/line.ts";
import type { DoneLine, ErrorLine, TerminalLine } from "../../../machines/line.ts";
import { currentPage } from "../service/current-page.ts";
import { readLines } from "../service/ndjson-reader.ts";
import { Refused, refusedStatus } from "../service/transport.ts";
import type { Place } from "../service/visitor.ts";
import type { ResultBody } from "../tools/tool-result.ts";
import type { Item } from "../view/state.ts";
import type { ConversationParts } from "./parts.ts";
import { pause } from "./pause.ts";
import type { ShownReply } from "./shown-reply.ts";
import type { ToolCalls } from "./tool-calls.ts";

export interface FollowedRun {
  parts: ConversationParts;
  at: Place;
  signal: AbortSignal;
  reply: ShownReply;
  /** null: this tab only listens, and runs no tools. */
  calls: ToolCalls | null;
}

/** How a stream of the run is had: by the message just posted, by asking for it, or by a tool's result. */
export type Opening =
  | { type: "message"; response: Response }
  | { type: "attach" }
  | { type: "answer"; body: ResultBody };

export type RunEnd =
  | DoneLine
  | ErrorLine
  /** The thread has had no run. */
  | { type: "none" }
  /** Another tab has to run a tool. */
  | { type: "elsewhere" }
  /** The run cannot be reached; it may go on without us. */
  | { type: "lost"; cause: unknown };

/** How one of its streams ended. */
type StreamEnd =
  | TerminalLine
  | { type: "none" }
  /** Another instance of the service goes on with the run. */
  | { type: "moved" }
  /** It did not open, or broke off. */
  | { type: "cut"; cause: unknown };

/** Waits between attempts to pick a stream up again. */
const RETRY_SECONDS = [1, 3, 9];

/** Instead of a result that the service refuses: the agent would wait for one until the call expires. */
const NOT_TAKEN = "The tool ran, but its result could not be delivered";

/**
 * Follows one run through its streams: each tool_call ends one, its result opens the next, and a stream that breaks off
 * is picked up where it can be. Nothing here sends a message twice: what is repeated is a tool result (the service knows
 * it by its callId) or the wish to listen. Rejects with the signal's reason alone.
 */
export async function followRun(run: FollowedRun, first: Opening): Promise<RunEnd> {
  const { reply, calls, signal } = run;
  const start = reply.mark();
  let from = start;
  let opening = first;
  let failures = 0;
  for (;;) {
    const end = await readStream(run, opening, from, () => (failures = 0));
    if (end.type === "tool_call") {
      if (calls === null) return { type: "elsewhere" };
      from = reply.mark();
      opening = { type: "answer", body: await calls.answer(end) };
      signal.throwIfAborted();
      continue;
    }
    if (end.type !== "cut" && end.type !== "moved") return end;

    const cause = end.type === "cut" ? end.cause : null;
    const status = refusedStatus(cause);
    const seconds = RETRY_SECONDS[failures];
    if (cause instanceof Refused && status === 429) {
      await pause(run.parts, cause.retryAfterSeconds, "busy", signal);
    } else if ((status === 413 || status === 422) && mayBeReplaced(opening)) {
      opening = { type: "answer", body: { ...opening.body, result: NOT_TAKEN, isError: true } };
    } else if (isFinal(status) || seconds === undefined) {
      return { type: "lost", cause };
    } else {
      failures += 1;
      await pause(run.parts, seconds, "cut", signal);
      signal.throwIfAborted();
      // An answer that broke off is posted again, which also tells whether it arrived. Otherwise the run is asked for.
      if (opening.type !== "answer" || end.type === "moved" || status === 409) {
        opening = { type: "attach" };
        from = start;
      }
    }
  }
}

function mayBeReplaced(opening: Opening): opening is Extract<Opening, { type: "answer" }> {
  return opening.type === "answer" && opening.body.result !== NOT_TAKEN;
}

/** Of a refusal. 409: the call is no longer pending; the thread's stream says what became of the run. */
function isFinal(status: number): boolean {
  return status > 0 && status < 500 && status !== 409;
}

async function readStream(
  { parts, at, signal, reply }: FollowedRun,
  opening: Opening,
  from: Item | null,
  onLine: () => void,
): Promise<StreamEnd> {
  try {
    const response = await openStream(parts, opening, at, signal);
    reply.rewind(from);
    if (response.status === 204) return { type: "none" };
    if (response.body === null) return { type: "cut", cause: null };
    for await (const line of readLines(response.body)) {
      onLine();
      parts.host.emit("line", { line });
      if (!isTerminal(line)) reply.add(line);
      else if (line.type === "error" && line.code === "interrupted") return { type: "moved" };
      else return line;
    }
    return { type: "cut", cause: null };
  } catch (cause) {
    signal.throwIfAborted();
    return { type: "cut", cause };
  }
}

function openStream(
  { service }: ConversationParts,
  opening: Opening,
  { token, threadId }: Place,
  signal: AbortSignal,
): Promise<Response> | Response {
  switch (opening.type) {
    case "message":
      return opening.response;
    case "attach":
      return service({
        path: `/threads/${encodeURIComponent(threadId)}/stream`,
        method: "GET",
        token,
        signal,
      });
    case "answer":
      return service({
        path: "/tool-results",
        token,
        body: { ...opening.body, threadId, page: currentPage() },
        signal,
      });
  }
}
