import { cutText } from "../../machines/line.ts";
import type { TurnEnd } from "../agent.ts";
import type { TurnItem } from "../domain/message.ts";
import type { ModelTurn } from "../model.ts";
import type { ArgumentCheck } from "./argument-check.ts";
import type { ParsedArguments } from "./arguments.ts";
import { noteCall, receiveCall, resolveCall } from "./calls.ts";
import type { ReceivedCall } from "./calls.ts";
import { TASK_FAILED } from "./tools.ts";
import type { Offers } from "./tools.ts";

/** Calls after the 256th of a turn are ignored, and not in the transcript: a model gone wild must not fill the store. */
const CALLS_PER_TURN = 256;

const REASON_CHARS = 1_000;
const NO_REASON = "The agent could not do what was asked.";

/** How a turn of the model ends: in text, in calls that are resolved and checked, or in `task_failed`. */
export async function turnEnd(turn: ModelTurn, offers: Offers, check: ArgumentCheck): Promise<TurnEnd> {
  const { text, usage, by, extra } = turn;
  const received = turn.calls.slice(0, CALLS_PER_TURN).map(receiveCall);
  const itemOf = (calls: ReceivedCall[]): TurnItem => ({
    type: "assistant",
    text,
    calls: calls.map(noteCall),
    by,
    ...(extra === undefined ? {} : { extra }),
  });

  if (received.length === 0) return { type: "finished", item: itemOf([]), usage };
  // Whatever else was called beside it, the run is over.
  const gaveUp = offers.size > 0 ? received.find(({ name }) => name === TASK_FAILED) : undefined;
  if (gaveUp) return { type: "gaveUp", item: itemOf([gaveUp]), reason: reasonIn(gaveUp.parsed), usage };
  const calls = await Promise.all(received.map((call) => resolveCall(call, offers, check)));
  return { type: "called", item: itemOf(received), calls, usage };
}

function reasonIn(parsed: ParsedArguments): string {
  const reason = parsed.fits ? parsed.arguments["reason"] : undefined;
  const text = typeof reason === "string" ? cutText(reason.trim(), REASON_CHARS) : "";
  return text === "" ? NO_REASON : text;
}
