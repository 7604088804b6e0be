import { defineChatAgent } from "./define-chat-agent.ts";
import type { MarkdownModule } from "./view/rich-text.tsx";

const scriptUrl =
  document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : undefined;

/** The renderer lies beside this script, under a name with its content's hash. */
function loadMarkdown(): Promise<MarkdownModule> {
  return import(new URL(__MARKDOWN_FILE__, scriptUrl ?? location.href).href);
}

defineChatAgent(scriptUrl, loadMarkdown);
