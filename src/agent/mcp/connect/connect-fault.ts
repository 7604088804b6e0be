import { isRecord } from "../../../is-record.ts";
import { AnswerTooLong } from "../../../bounded-body.ts";
import { NOT_PUBLIC } from "../../../public-lookup.ts";
import { Unusable } from "./unusable.ts";

/** MCP 2026-07-28, basic, UnsupportedProtocolVersionError: `data` has `supported`. */
const UNSUPPORTED_VERSION = -32_022;
/** JSON-RPC's. The first revision without sessions has no `initialize` (MCP 2026-07-28, Key changes). */
const METHOD_NOT_FOUND = -32_601;

/** A revision is a day. Whatever else a server calls one is not repeated. */
const REVISION = /\b20\d\d-\d\d-\d\d\b/g;
const MOST_REVISIONS = 5;

/** The error as it is told to the operator: with what is missing, where this service knows it. `spoken`: its own revisions. */
export function connectFault(error: unknown, spoken: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  if (reasonsOf(error).some((reason) => reason === NOT_PUBLIC)) {
    return new Unusable(
      `${NOT_PUBLIC}; CHANNELS_FILE of this instance may name such a server, and MCP_PRIVATE=on allows it to everybody`,
      error,
    );
  }
  if (error instanceof AnswerTooLong) return new Unusable(error.message, error);
  const revisions = onlyRevisions(error);
  if (revisions !== null) {
    const theirs = revisions.length === 0 ? "other revisions" : revisions.join(", ");
    return new Unusable(
      `it speaks ${theirs} of MCP alone, and this service ${spoken.at(-1)} to ${spoken[0]}: let the server speak one of these, too`,
      error,
    );
  }
  return error;
}

/** The revisions that a server speaks, where it speaks none of ours; null: that is not what is wrong. */
function onlyRevisions(error: Error): string[] | null {
  // The SDK's own words, about a revision in the answer to `initialize`.
  if (error.message.startsWith("Server's protocol version is not supported: ")) {
    return revisionsIn(error.message);
  }
  const { code, data } = answeredError(error);
  if (code === UNSUPPORTED_VERSION) {
    return revisionsIn(JSON.stringify(isRecord(data) ? data["supported"] : null) ?? "");
  }
  return code === METHOD_NOT_FOUND ? [] : null;
}

/** What was answered in JSON-RPC to `initialize`, also with a status of HTTP that is none of success: then as text. */
function answeredError(error: Error): { code?: unknown; data?: unknown } {
  if (error.name === "ProtocolError") return error as { code?: unknown; data?: unknown };
  const { message } = error;
  try {
    const json = message.slice(message.indexOf("{"), message.lastIndexOf("}") + 1);
    const { error: answered } = JSON.parse(json) as { error?: unknown };
    return isRecord(answered) ? answered : {};
  } catch {
    return {};
  }
}

function revisionsIn(text: string): string[] {
  return [...new Set(text.match(REVISION) ?? [])].slice(0, MOST_REVISIONS);
}

/** `fetch failed` has the real reason in its cause. */
function reasonsOf(error: Error): string[] {
  return [error.message, ...(error.cause instanceof Error ? reasonsOf(error.cause) : [])];
}
