import { cutText } from "../../machines/line.ts";
import type { Call, RefusedCall } from "../../machines/run.ts";
import type { NotedCall, PastCall } from "../domain/message.ts";
import type { Extra, ModelCall } from "../model.ts";
import type { ArgumentCheck } from "./argument-check.ts";
import { newId } from "../domain/ids.ts";
import { parseArguments, takeProgress } from "./arguments.ts";
import type { ParsedArguments } from "./arguments.ts";
import { isAllowedName, safeName } from "./names.ts";
import type { Offers } from "./tools.ts";

/** A call of the model, under an id of our own: the model's ids are guessable, and repeat. */
export interface ReceivedCall {
  callId: string;
  modelCallId: string;
  extra: Extra | null;
  /** As the model named the tool. */
  name: string;
  /** As the model wrote the arguments, and what they parse to. */
  text: string;
  parsed: ParsedArguments;
}

export function receiveCall({ callId, name, arguments: text, extra }: ModelCall): ReceivedCall {
  return {
    callId: newId(),
    modelCallId: callId,
    extra: extra ?? null,
    name,
    text,
    parsed: parseArguments(text),
  };
}

/**
 * A call as it goes into the run's transcript, where the model reads it again. A strange name or arguments that are no
 * JSON object are noted in a form that the model's API takes back.
 */
export function noteCall({ callId, modelCallId, extra, name, text, parsed }: ReceivedCall): NotedCall {
  return {
    callId,
    modelCallId,
    ...(extra === null ? {} : { extra }),
    offeredName: isAllowedName(name) ? name : safeName(name),
    arguments: text.trim() !== "" && parsed.fits ? text : "{}",
  };
}

/** The tool that is meant, and arguments that fit it; or the reason for the model why the call is not made. */
export async function resolveCall(
  { callId, name, parsed }: ReceivedCall,
  offers: Offers,
  check: ArgumentCheck,
): Promise<Call | RefusedCall> {
  const refused = (reason: string): RefusedCall => ({ callId, kind: "refused", reason });

  const offer = offers.get(name);
  if (!offer) {
    const names = cutText([...offers.keys()].join(", "), 1_000);
    const known = names === "" ? "There are no tools." : `The tools are: ${names}.`;
    return refused(`Cannot call ${JSON.stringify(cutText(name, 100))}: there is no such tool. ${known}`);
  }

  if (!parsed.fits) return refused(`Cannot call ${name}: ${parsed.reason}`);
  const { text, rest } = offer.ownsProgress
    ? { text: null, rest: parsed.arguments }
    : takeProgress(parsed.arguments);
  const misfit = await check(offer.picked, rest);
  if (misfit !== null) return refused(`Cannot call ${name}: ${misfit}`);

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

/** Was a call of an earlier run refused here, and answered by no tool? Its result is all that is kept of that. */
export function wasRefused({ tool, result }: PastCall): boolean {
  if (result === null) return false;
  return (
    result.startsWith(`Cannot call ${tool}: `) || /^Cannot call ".*": there is no such tool\./s.test(result)
  );
}
