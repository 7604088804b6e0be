/**
 * What went wrong with a call of an MCP tool, as far as it changes what to do next. The SDK's errors are told apart by
 * their codes; their messages may hold addresses, and are not passed on.
 */
export type McpFault =
  /** The server took the call and answered with an error of its own, whose message may be passed on. */
  | { type: "answered"; message: string }
  | { type: "timedOut" }
  /** The server knows no such session, or takes the token no more: it did nothing, and a new session is all that is needed. */
  | { type: "notTaken" }
  /** The connection broke: whether the tool ran is unknown. */
  | { type: "lost" };

/** JSON-RPC codes that the SDK uses for its own side of the wire. */
const CONNECTION_CLOSED = -32_000;
const REQUEST_TIMEOUT = -32_001;

/** HTTP statuses for an unknown session: 404 by the protocol, 400 by servers that forgot all of them in a restart. 401: an expired token. */
const REFUSED = new Set([400, 401, 404]);

export function mcpFaultOf(error: unknown): McpFault {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === REQUEST_TIMEOUT) return { type: "timedOut" };
  if (code === CONNECTION_CLOSED) return { type: "lost" };
  if (typeof code === "number" && REFUSED.has(code)) return { type: "notTaken" };
  if (typeof code === "number" && code < -1 && error instanceof Error) {
    return { type: "answered", message: error.message };
  }
  return { type: "lost" };
}

/** What a server of 2024 answers to the first request of Streamable HTTP (the protocol, Backwards Compatibility). */
const OF_OLD_SERVERS = new Set([400, 404, 405]);

export function isOfOldServer(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "number" && OF_OLD_SERVERS.has(code);
}
