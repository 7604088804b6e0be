import { cutText } from "../../../machines/line.ts";
import type { ErrorLine, TerminalLine } from "../../../machines/line.ts";
import type { RunOutcome } from "../../../machines/run.ts";
import { foldSteps, textOf } from "./fold-steps.ts";
import type { Message, PastCall, PastTurn, RunRecord, TurnItem } from "./message.ts";

/** The limits of a past call's text: enough to know what was done, short enough for many calls. */
const PAST_TEXT_CHARS = 400;

/** The calls of a run, each with its result if it has one, with texts of at most `mostChars`. */
function pastCalls(turns: readonly TurnItem[], mostChars: number): PastCall[] {
  const results = new Map<string, string>();
  for (const item of turns) if (item.type === "result") results.set(item.callId, item.text);
  return turns.flatMap((item) =>
    item.type === "assistant"
      ? item.calls.map((call) => {
          const result = results.get(call.callId);
          return {
            tool: call.offeredName,
            arguments: cutText(call.arguments, mostChars),
            result: result === undefined ? null : cutText(result, mostChars),
          };
        })
      : [],
  );
}

/** The extra fields that the models of these calls need back; null if the model of one is unknown. */
function pastTurns(turns: readonly TurnItem[]): PastTurn[] | null {
  const past: PastTurn[] = [];
  for (const item of turns) {
    if (item.type !== "assistant") continue;
    const { by, extra, calls } = item;
    const ids = calls.flatMap(({ modelCallId: id, extra: ofCall }) =>
      id === undefined ? [] : [{ id, ...(ofCall === undefined ? {} : { extra: ofCall }) }],
    );
    if (by === undefined || ids.length < calls.length) return null;
    // A turn in between that called no tool has only its text.
    if (calls.length > 0 || extra !== undefined) {
      past.push({ by, calls: ids, ...(extra === undefined ? {} : { extra }) });
    }
  }
  return past;
}

/**
 * The message that a run leaves in the history: its streamed text, its steps and its calls; for a failed run that streamed
 * nothing, the error's message (contract, History).
 */
export function replyMessage(options: {
  run: RunRecord;
  outcome: RunOutcome;
  terminal: TerminalLine | null;
  id: string;
  createdAtMs: number;
  /** The next run answers its message, too: its calls keep their whole texts. */
  isGoneOnWith?: boolean;
}): Message {
  const { run, outcome, terminal, id, createdAtMs, isGoneOnWith = false } = options;
  const text = textOf(run.lines);
  const streamedNothing = text === "" && !run.kept;
  const content =
    streamedNothing && outcome === "failed" && terminal?.type === "error" ? terminal.message : text;
  const steps = foldSteps(run.lines);
  const calls = pastCalls(run.turns, isGoneOnWith ? Infinity : PAST_TEXT_CHARS);
  const turns = calls.length > 0 ? pastTurns(run.turns) : null;
  const model = whoAnswered(run.turns);
  return {
    id,
    role: "assistant",
    content,
    createdAtMs,
    runId: run.runId,
    ...run.again,
    outcome,
    ...(steps.length > 0 ? { steps } : {}),
    ...(calls.length > 0 ? { calls } : {}),
    ...(turns ? { turns } : {}),
    ...(model === undefined ? {} : { model }),
    ...(outcome === "failed" && terminal?.type === "error" ? { error: faultOf(terminal) } : {}),
    ...(run.kept ? { kept: run.kept } : {}),
  };
}

function faultOf({ message, code }: ErrorLine): NonNullable<Message["error"]> {
  return code === undefined ? { message } : { message, code };
}

/** The last model that answered; undefined if the model is not a chain. */
function whoAnswered(turns: readonly TurnItem[]): string | undefined {
  const last = turns.findLast((item) => item.type === "assistant");
  return last?.isOfChain ? last.by : undefined;
}
