import type { RecordedCall, RecordedExchange } from "./case.ts";
import type { PlayedCall, PlayedExchange } from "./play.ts";
import { isSameCall } from "./recording.ts";

/** The differences between the recorded and the played exchange. */
export interface Differences {
  reply: boolean;
  /** Recorded calls that were not made now. */
  missing: RecordedCall[];
  /** Calls that are not in the record. */
  added: PlayedCall[];
}

export function differencesOf(recorded: RecordedExchange, played: PlayedExchange): Differences {
  const added = [...played.calls];
  const missing = recorded.calls.filter((call) => {
    const at = added.findIndex((made) => isSameCall(call, made));
    if (at >= 0) added.splice(at, 1);
    return at < 0;
  });
  const isKnown = recorded.reply !== undefined || recorded.error !== undefined;
  return { reply: isKnown && toldThen(recorded) !== toldNow(played), missing, added };
}

export function differs({ reply, missing, added }: Differences): boolean {
  return reply || missing.length > 0 || added.length > 0;
}

/** The recorded text that the user read: the reply, or the error. */
export function toldThen({ reply = "", error }: RecordedExchange): string {
  return told(reply, error ?? null);
}

export function toldNow({ reply, error }: PlayedExchange): string {
  return told(reply, error);
}

function told(reply: string, error: string | null): string {
  return [reply.trim(), error === null ? "" : `[error: ${error}]`].filter((text) => text !== "").join(" ");
}
