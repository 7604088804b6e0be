import { cutText } from "../../../machines/line.ts";
import type { Call, RefusedCall } from "../../../machines/run.ts";
import type { NotedCall, PastCall } from "../../domain/threads/message.ts";
import type { Extra, ModelCall } from "../../model.ts";
import type { ArgumentCheck } from "./argument-check.ts";
import { newId } from "../../domain/ids.ts";
import { parseArguments, takeProgress } from "./arguments.ts";
import type { ParsedArguments } from "./arguments.ts";
import { isAllowedName, safeName } from "./names.ts";
import type { Offers } from "./tools.ts";

/** A call of the model, with an id of our own: the model's ids can be guessed, and repeat. */
export interface ReceivedCall {
  callId: string;
  modelCallId: string;
  extra: Extra | null;
  /** The name that the model used for the tool. */
  name: string;
  /** Its arguments. */
  parsed: ParsedArguments;
}

export function receiveCall({ callId, name, arguments: text, extra }: ModelCall): ReceivedCall {
  return {
    callId: newId(),
    modelCallId: callId,
    extra: extra ?? null,
    name,
    parsed: parseArguments(text),
  };
}

/**
 * A call as it goes into the run's transcript, which the model reads again. An unusual name, or arguments that are no JSON
 * object, are written in a form that the model's API accepts.
 */
export function noteCall({ callId, modelCallId, extra, name, parsed }: ReceivedCall): NotedCall {
  return {
    callId,
    modelCallId,
    ...(extra === null ? {} : { extra }),
    offeredName: isAllowedName(name) ? name : safeName(name),
    arguments: parsed.fits ? parsed.text : "{}",
  };
}

/** The called tool with valid arguments; or the reason, for the model, why the call is refused. */
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
    ...(offer.readOnly ? { readOnly: true as const } : {}),
    ...(offer.confirm === undefined ? {} : { confirm: offer.confirm }),
    ...(offer.server ? { server: offer.server } : {}),
  };
}

/**
 * A call of an answer that was cut off, and why it is not made: its arguments may lack their end even where they parse, and
 * a call that was whole may have been meant for more than the ones that are left.
 */
export function refuseCut({ callId, name }: ReceivedCall): RefusedCall {
  return {
    callId,
    kind: "refused",
    reason: `Cannot call ${cutText(name, 100)}: your answer was cut off before it was whole, so none of its calls was made`,
  };
}

/** Was a call of an earlier run refused here, so that no tool answered it? Only its result tells that. */
export function wasRefused({ tool, result }: PastCall): boolean {
  if (result === null) return false;
  return (
    result.startsWith(`Cannot call ${tool}: `) || /^Cannot call ".*": there is no such tool\./s.test(result)
  );
}
