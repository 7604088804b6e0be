import { call, say } from "../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { PAGE_TOOLS } from "./widget-scenario.ts";

/** One page tool in each turn, with a word before it, and an answer when all have been used. */
export function shopper({ body }: ModelServerRequest): ScriptedTurn {
  const used = body.messages.filter(({ role }) => role === "tool").length;
  const tool = PAGE_TOOLS[used];
  return tool === undefined
    ? "The red mug is on its way."
    : [say("One moment. "), call(tool, { what: "red mug" })];
}

/** Each tool's turn and the last: no result, repeated or stale, makes the model think again. */
export const MODEL_CALLS = PAGE_TOOLS.length + 1;
