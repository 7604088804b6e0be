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

/** JSON-RPC codes that the SDK uses for its own side of the wire; a server may use them, too. */
const CONNECTION_CLOSED = -32_000;
const REQUEST_TIMEOUT = -32_001;

/** HTTP statuses for an unknown session: 404 by the protocol, 400 by servers that forgot all of them in a restart. 401: an expired token. */
const NOT_TAKEN = new Set([400, 401, 404]);
/** The server waited for the call too long, so some of it may have come. */
const REQUEST_TIMEOUT_STATUS = 408;

export function mcpFaultOf(error: unknown): McpFault {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (error instanceof AnswerTooLong) return { type: "tooLong" };
  // An answer in JSON-RPC, or what the SDK says in its place. Codes of servers may be any numbers, those of HTTP too.
  if (error instanceof Error && error.name === "McpError") {
    if (code === REQUEST_TIMEOUT && isTimeout(error)) return { type: "timedOut" };
    if (code === CONNECTION_CLOSED && error.message.endsWith(": Connection closed")) return { type: "lost" };
    return { type: "answered", message: error.message };
  }
  if (typeof code === "number" && NOT_TAKEN.has(code)) return { type: "notTaken" };
  if (typeof code === "number" && code > 400 && code < 500 && code !== REQUEST_TIMEOUT_STATUS)
    return { type: "refused", status: code };
  if (typeof code === "number" && code < -1 && error instanceof Error) {
    return { type: "answered", message: error.message };
  }
  return { type: "lost" };
}

/** The SDK tells the time that it waited, with each progress or in all. */
function isTimeout(error: Error): boolean {
  const data = "data" in error ? error.data : undefined;
  return typeof data === "object" && data !== null && ("timeout" in data || "maxTotalTimeout" in data);
}

/** What a server of 2024 answers to the first request of Streamable HTTP (the protocol, Backwards Compatibility). */
const OF_OLD_SERVERS = new Set([400, 404, 405]);

export function isOfOldServer(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "number" && OF_OLD_SERVERS.has(code);
}
