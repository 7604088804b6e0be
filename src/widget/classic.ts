import { defineChatAgent } from "./define-chat-agent.ts";
import type { MarkdownRenderer } from "./view/rich-text.tsx";

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : undefined;

// The renderer lies beside this script, under a name with its content's hash.
defineChatAgent(
  script,
  () =>
    import(new URL(__MARKDOWN_FILE__, script ?? location.href).href) as Promise<{
      renderMarkdown: MarkdownRenderer;
    }>,
);
