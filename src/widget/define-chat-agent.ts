import { ChatAgent } from "./chat-agent.ts";
import type { ScriptSource } from "./hosted-chat.ts";
import { modelContext } from "./tools/model-context.ts";
import { watchRegistrations } from "./tools/registered-marks.ts";

/** Defines `<chat-agent>`, once per page. `scriptUrl` is the address that the code was loaded from. */
export function defineChatAgent(scriptUrl: string | undefined, load: ScriptSource["load"]): void {
  const url = scriptUrl === undefined || !URL.canParse(scriptUrl) ? "" : new URL(scriptUrl).origin;
  ChatAgent.source = { url, load };
  if (globalThis.document !== undefined) watchRegistrations(modelContext());
  if (globalThis.customElements === undefined || customElements.get("chat-agent") !== undefined) return;
  customElements.define("chat-agent", ChatAgent);
}
