import { call, hold, lastUserText, say } from "../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { TOOL } from "./channel-client.ts";

/**
 * Repeats what was said. A text that begins with "call" leads to the page's tool first, one that begins with "wait" is
 * held in mid-reply until the test releases it.
 */
export function echoOrCall(request: ModelServerRequest): ScriptedTurn {
  const said = lastUserText(request);
  const isAnswered = request.body.messages.at(-1)?.role === "tool";
  if (said.startsWith("call") && !isAnswered) return [call(TOOL)];
  return said.startsWith("wait") ? [say("You said: "), hold(), say(said)] : `You said: ${said}`;
}
