import { AnswerTooLong } from "../../bounded-body.ts";

/**
 * What went wrong with a call of an MCP tool, as far as it changes what to do next. The SDK's errors are told apart by
 * their codes; their messages may hold addresses, and are not passed on.
 */
export type McpFault =
  /** The server took the call and answered with an error of its own, whose message may be passed on. */
  | { type: "answered"; message: string }
  | { type: "timedOut" }
  /** Whatever stands before the server refused this one call, by a status of HTTP: the connection is well. */
  | { type: "refused"; status: number }
  /** The server knows no such session, or takes the token no more: it did nothing, and a new session is all that is needed. */
  | { type: "notTaken" }
  /** The answer came, and was longer than is read. */
  | { type: "tooLong" }
  /** The connection broke: whether the tool ran is unknown. */
  | { type: "lost" };

/** HTTP statuses for an unknown session: 404 by the protocol, 400 by servers that forgot all of them in a restart. 401: an expired token. */
const NOT_TAKEN = new Set([400, 401, 404]);
/** The server waited for the call too long, so some of it may have come. */
const REQUEST_TIMEOUT_STATUS = 408;

/** An error of the SDK: `code` is a number for what the server answered in JSON-RPC, and a word for what the SDK noticed. */
function parts(error: unknown): { code: unknown; status: number | null } {
  if (!(error instanceof Error)) return { code: undefined, status: null };
  const code = "code" in error ? error.code : undefined;
  // `UnauthorizedError`, which is thrown where nothing can be signed in with, has neither.
  if (error.name === "UnauthorizedError") return { code, status: 401 };
  const status = "status" in error && typeof error.status === "number" ? error.status : null;
  return { code, status };
}

export function mcpFaultOf(error: unknown): McpFault {
  if (error instanceof AnswerTooLong) return { type: "tooLong" };
  const { code, status } = parts(error);
  // Codes of servers may be any numbers, those of HTTP too.
  // What was aborted has a number of its own.
  const isAnswer = error instanceof Error && !(error instanceof DOMException) && status === null;
  if (isAnswer && typeof code === "number") {
    return { type: "answered", message: error.message };
  }
  if (code === "REQUEST_TIMEOUT") return { type: "timedOut" };
  if (status !== null && NOT_TAKEN.has(status)) return { type: "notTaken" };
  if (status !== null && status > 400 && status < 500 && status !== REQUEST_TIMEOUT_STATUS) {
    return { type: "refused", status };
  }
  if (code === "UNSUPPORTED_RESULT_TYPE") {
    return {
      type: "answered",
      message: "The tool's server answered in a way that this service does not know.",
    };
  }
  return { type: "lost" };
}

/** An answer that came whole, and has another shape than the SDK expects. */
export function isOfOddResult(error: unknown): boolean {
  return parts(error).code === "INVALID_RESULT";
}

/** What a server of 2024 answers to the first request of Streamable HTTP (the protocol, Backwards Compatibility). */
const OF_OLD_SERVERS = new Set([400, 404, 405]);

export function isOfOldServer(error: unknown): boolean {
  const { status } = parts(error);
  return status !== null && OF_OLD_SERVERS.has(status);
}

/** What a server answers that fails at a request which it does not know; a gateway's own statuses say that it is down. */
const FAILS_AT_UNKNOWN = new Set([500, 501]);

/** A server may fail at the question which revision it speaks, or say nothing to it: neither says which one it is. */
export function isOfProbe(error: unknown): boolean {
  const { code, status } = parts(error);
  if (code === "REQUEST_TIMEOUT") return true;
  if (code !== "ERA_NEGOTIATION_FAILED") return false;
  return status !== null
    ? FAILS_AT_UNKNOWN.has(status)
    : error instanceof Error && error.message.includes("an unusable reply");
}
