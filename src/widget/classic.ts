import { defineChatAgent } from "./define.ts";
import type { MarkdownRenderer } from "./view/rich-text.tsx";

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : undefined;

// Beside this script, under a name that changes with its content.
defineChatAgent(
  script,
  () =>
    import(new URL(__MARKDOWN_FILE__, script ?? location.href).href) as Promise<{
      renderMarkdown: MarkdownRenderer;
    }>,
);
