import { ChatAgent } from "./element.ts";
import type { MarkdownRenderer } from "./view/rich-text.tsx";

/** Makes `<chat-agent>` known, once on a page. `script` is the address that the code was loaded from. */
export function defineChatAgent(
  script: string | undefined,
  markdown: () => Promise<{ renderMarkdown: MarkdownRenderer }>,
): void {
  ChatAgent.markdown = markdown;
  if (globalThis.customElements === undefined || customElements.get("chat-agent") !== undefined) return;
  ChatAgent.home = script === undefined || !URL.canParse(script) ? "" : new URL(script).origin;
  customElements.define("chat-agent", ChatAgent);
}
