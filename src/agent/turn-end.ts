import { cutText } from "../../machines/line.ts";
import type { TurnEnd } from "../agent.ts";
import type { TurnItem } from "../domain/threads/message.ts";
import { WITHHELD } from "../model.ts";
import type { ModelTurn } from "../model.ts";
import type { ArgumentCheck } from "./tools/argument-check.ts";
import type { ParsedArguments } from "./tools/arguments.ts";
import { noteCall, receiveCall, refuseCut, resolveCall } from "./tools/calls.ts";
import type { ReceivedCall } from "./tools/calls.ts";
import { HAND_OFF, TASK_FAILED } from "./tools/tools.ts";
import type { Offers } from "./tools/tools.ts";

/** Calls after the 256th of a turn are ignored, and not in the transcript: a runaway model must not fill the store. */
const CALLS_PER_TURN = 256;

const REASON_CHARS = 1_000;
const SUMMARY_CHARS = 4_000;
const NO_REASON = "The agent could not do what was asked.";

/** Finish reasons of a normal end, which are not reported. */
const OWN_ENDS = new Set(["stop", "tool_calls", "function_call"]);
/** Those of an answer that lacks its end. */
const CUT_ENDS = new Set(["length", "content_filter"]);

/**
 * How a turn of the model ends: in text, in calls that are resolved and checked, in `task_failed` or in `hand_off`. `hasSaid`: the run
 * said something in an earlier turn.
 */
export async function turnEnd(
  turn: ModelTurn,
  {
    offers,
    check,
    hasSaid,
    allowsHandOff = false,
    queues = [],
  }: {
    offers: Offers;
    check: ArgumentCheck;
    hasSaid: boolean;
    allowsHandOff?: boolean;
    queues?: readonly string[];
  },
): Promise<TurnEnd> {
  const { text, usage, by, isOfChain, extra, finishReason } = turn;
  const received = turn.calls.slice(0, CALLS_PER_TURN).map(receiveCall);
  const itemOf = (calls: ReceivedCall[]): TurnItem => ({
    type: "assistant",
    text,
    calls: calls.map(noteCall),
    by,
    ...(isOfChain ? { isOfChain } : {}),
    ...(extra === undefined ? {} : { extra }),
  });

  if (received.length === 0) {
    if (text.trim() === "" && !hasSaid) {
      return {
        type: "saidNothing",
        item: itemOf([]),
        message: whyNothing(finishReason),
        usage,
        finishReason,
      };
    }
    const isOwnEnd = finishReason === null || OWN_ENDS.has(finishReason);
    return { type: "finished", item: itemOf([]), usage, ...(isOwnEnd ? {} : { finishReason }) };
  }
  // The run is over, whatever else was called in the same turn.
  const handsOff = allowsHandOff ? received.find(({ name }) => name === HAND_OFF) : undefined;
  if (handsOff) {
    const { parsed } = handsOff;
    const [reason, summary] = [
      textIn(parsed, "reason", REASON_CHARS),
      textIn(parsed, "summary", SUMMARY_CHARS),
    ];
    const named = textIn(parsed, "queue", SUMMARY_CHARS);
    const queue = queues.find((one) => one === named);
    return { type: "handedOff", item: itemOf([handsOff]), reason, summary, queue, usage };
  }
  const gaveUp = offers.size > 0 ? received.find(({ name }) => name === TASK_FAILED) : undefined;
  if (gaveUp) return { type: "gaveUp", item: itemOf([gaveUp]), reason: reasonIn(gaveUp.parsed), usage };
  const isCut = finishReason !== null && CUT_ENDS.has(finishReason);
  const calls = isCut
    ? received.map(refuseCut)
    : await Promise.all(received.map((call) => resolveCall(call, offers, check)));
  return { type: "called", item: itemOf(received), calls, usage };
}

function whyNothing(finishReason: string | null): string {
  switch (finishReason ?? "stop") {
    case "length":
      return "The answer reached its length limit before its first word";
    case "content_filter":
      return WITHHELD;
    default:
      return "The model gave no answer";
  }
}

function reasonIn(parsed: ParsedArguments): string {
  return textIn(parsed, "reason", REASON_CHARS) ?? NO_REASON;
}

/** Whatever else the model wrote: what it asked for is done. */
function textIn(parsed: ParsedArguments, name: string, limitChars: number): string | null {
  const value = parsed.fits ? parsed.arguments[name] : undefined;
  const text = typeof value === "string" ? cutText(value.trim(), limitChars) : "";
  return text === "" ? null : text;
}
