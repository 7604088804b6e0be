import { isTerminal } from "../../../machines/line.ts";
import type {
  DoneLine,
  ErrorLine,
  Line,
  ProgressLine,
  TerminalLine,
  ToolCallLine,
} from "../../../machines/line.ts";
import { readLines } from "../service/ndjson-reader.ts";
import { currentPage } from "../service/current-page.ts";
import type { ResultBody } from "../tools/tool-result.ts";
import { Refused } from "../service/transport.ts";
import type { Service } from "../service/transport.ts";
import type { Place } from "../service/visitor.ts";

/**
 * Follows one run through its streams: each tool_call ends one, its result opens the next, and a stream that breaks off
 * is picked up where it can be. Nothing here says a message twice: what is repeated is a tool result (the service knows
 * it by its callId) or the wish to listen.
 */
export interface RunParts {
  service: Service;
  at: Place;
  signal: AbortSignal;
  reply: ReplyView;
  /** Runs the page tool; null: this tab only listens, and does not run tools. */
  perform: ((call: ToolCallLine) => Promise<ResultBody>) | null;
  /** Every line, as it comes. */
  onLine: (line: Line) => void;
  /** Before a stream is tried again; resolves early when the browser is back online. */
  pause(seconds: number, reason: "cut" | "busy"): Promise<void>;
}

/** The reply as it is shown. */
export interface ReplyView {
  add(line: ProgressLine): void;
  /** Where the reply stands; going back to it shows what follows afresh. */
  mark(): unknown;
  rewind(mark: unknown): void;
}

export type Opening =
  | { type: "said"; response: Response }
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

/** Waits between attempts to pick a stream up again. */
const RETRY_SECONDS = [1, 3, 9];

/** Instead of a result that the service refuses: the agent would wait for one until the call expires. */
const NOT_TAKEN = "The tool ran, but its result could not be delivered";

/** Rejects with the signal's reason alone. */
export async function followRun(parts: RunParts, first: Opening): Promise<RunEnd> {
  const start = parts.reply.mark();
  let opening = first;
  let from = start;
  let failures = 0;
  for (;;) {
    let end: TerminalLine | "cut" | "none";
    let cause: unknown = null;
    try {
      const response = await open(parts, opening);
      parts.reply.rewind(from);
      end = response.status === 204 ? "none" : await readStream(response, parts, () => (failures = 0));
    } catch (error) {
      parts.signal.throwIfAborted();
      if (error instanceof Refused && error.status === 429) {
        await parts.pause(error.retryAfterSeconds || 1, "busy");
        continue;
      }
      if (isUnfit(error) && opening.type === "answer" && opening.body.result !== NOT_TAKEN) {
        opening = { type: "answer", body: { ...opening.body, result: NOT_TAKEN, isError: true } };
        continue;
      }
      // 409: the call is no longer pending; the thread's stream says what became of the run.
      const isOver = error instanceof Refused && error.status < 500 && error.status !== 409;
      if (isOver) return { type: "lost", cause: error };
      if (error instanceof Refused && error.status === 409) opening = { type: "attach" };
      cause = error;
      end = "cut";
    }

    if (end === "none") return { type: "none" };
    if (end === "cut" || (end.type === "error" && end.code === "interrupted")) {
      const seconds = RETRY_SECONDS[failures];
      if (seconds === undefined) return { type: "lost", cause };
      failures += 1;
      await parts.pause(seconds, "cut");
      parts.signal.throwIfAborted();
      // A cut answer is posted again, which also tells whether it arrived; a run that moved house is asked for anew.
      if (end !== "cut" || opening.type !== "answer") {
        opening = { type: "attach" };
        from = start;
      }
      continue;
    }
    if (end.type !== "tool_call") return end;
    if (parts.perform === null) return { type: "elsewhere" };
    from = parts.reply.mark();
    opening = { type: "answer", body: await parts.perform(end) };
    parts.signal.throwIfAborted();
  }
}

function isUnfit(error: unknown): boolean {
  return error instanceof Refused && (error.status === 413 || error.status === 422);
}

function open({ service, at, signal }: RunParts, opening: Opening): Promise<Response> | Response {
  switch (opening.type) {
    case "said":
      return opening.response;
    case "attach":
      return service({
        path: `/threads/${encodeURIComponent(at.threadId)}/stream`,
        method: "GET",
        token: at.token,
        signal,
      });
    case "answer":
      return service({
        path: "/tool-results",
        token: at.token,
        body: { ...opening.body, threadId: at.threadId, page: currentPage() },
        signal,
      });
  }
}

async function readStream(
  response: Response,
  { reply, onLine }: RunParts,
  onProgress: () => void,
): Promise<TerminalLine | "cut"> {
  if (response.body === null) return "cut";
  for await (const line of readLines(response.body)) {
    onProgress();
    onLine(line);
    if (isTerminal(line)) return line;
    reply.add(line);
  }
  return "cut";
}
