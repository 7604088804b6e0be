import { cutText } from "../../machines/line.ts";
import type { Call, RefusedCall } from "../../machines/run.ts";
import type { ModelCall } from "../model.ts";
import type { ArgumentCheck } from "./argument-check.ts";
import { parseArguments, takeProgress } from "./arguments.ts";
import { isAllowedName, safeName } from "./names.ts";
import type { Offers } from "./tools.ts";

/** A call as it goes into the run's transcript, where the model reads it again. */
export interface NotedCall {
  callId: string;
  offeredName: string;
  arguments: string;
}

/**
 * A call of the model under an id of our own: the model's ids are guessable, and repeat. What the model's API would
 * not take back, a strange name or arguments that are no JSON object, is noted in a form that it takes.
 */
export function noteCall(call: ModelCall, callId: string): NotedCall {
  return {
    callId,
    offeredName: isAllowedName(call.name) ? call.name : safeName(call.name),
    arguments: call.arguments.trim() !== "" && parseArguments(call.arguments).fits ? call.arguments : "{}",
  };
}

/** The tool that is meant, and arguments that fit it; or the reason for the model why the call is not made. */
export async function resolveCall(options: {
  call: ModelCall;
  callId: string;
  offers: Offers;
  check: ArgumentCheck;
}): Promise<Call | RefusedCall> {
  const { call, callId, offers, check } = options;
  const refused = (reason: string): RefusedCall => ({ callId, kind: "refused", reason });

  const offer = offers.get(call.name);
  if (!offer) {
    const names = cutText([...offers.keys()].join(", "), 1_000);
    const known = names === "" ? "There are no tools." : `The tools are: ${names}.`;
    return refused(`Cannot call ${JSON.stringify(cutText(call.name, 100))}: there is no such tool. ${known}`);
  }

  const parsed = parseArguments(call.arguments);
  if (!parsed.fits) return refused(`Cannot call ${call.name}: ${parsed.reason}`);
  const { text, rest } = offer.ownsProgress
    ? { text: null, rest: parsed.arguments }
    : takeProgress(parsed.arguments);
  const misfit = await check(offer.schema, rest);
  if (misfit !== null) return refused(`Cannot call ${call.name}: ${misfit}`);

  return {
    callId,
    kind: offer.kind,
    tool: offer.tool,
    arguments: rest,
    progress: text ?? offer.fallbackProgress,
    repeatable: offer.repeatable,
    ...(offer.server === null ? {} : { server: offer.server }),
  };
}
