import type { Call } from "../../../machines/run.ts";

/** A call of a server's tool; apart from what needs the test runner. */
export function callOf(
  server: string,
  name: string,
  args: Record<string, unknown> = {},
  repeatable = false,
): Call {
  return { callId: "c", kind: "server", server, tool: name, arguments: args, progress: "", repeatable };
}
