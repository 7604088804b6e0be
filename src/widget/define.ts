import { ChatAgent } from "./element.ts";
import type { Home } from "./hosted-chat.ts";

/** Makes `<chat-agent>` known, once on a page. `script` is the address that the code was loaded from. */
export function defineChatAgent(script: string | undefined, markdown: Home["markdown"]): void {
  const url = script === undefined || !URL.canParse(script) ? "" : new URL(script).origin;
  ChatAgent.home = { url, markdown };
  if (globalThis.customElements === undefined || customElements.get("chat-agent") !== undefined) return;
  customElements.define("chat-agent", ChatAgent);
}
