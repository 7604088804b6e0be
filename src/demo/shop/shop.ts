import type { ChatAgentElement, PageTool } from "./chat-agent.ts";
import { drawPage, listenToPage } from "./pages.ts";
import { offerSignIn } from "./sign-in.ts";
import { SHOP_TOOLS } from "./tools.ts";
import { traceChat } from "./trace.ts";

const agent = document.querySelector<ChatAgentElement>("chat-agent");
const panel = document.querySelector<HTMLElement>("[data-trace]");
const button = document.querySelector<HTMLButtonElement>("[data-sign-in]");

listenToPage();
drawPage();
window.addEventListener("shop:changed", drawPage);
window.addEventListener("storage", drawPage);

if (agent !== null) {
  agent.tools = SHOP_TOOLS;
  agent.suggestions = ["Find a red mug", "Buy a red mug and check out", "Where is my order 1001?"];
  if (panel !== null) traceChat(agent, panel, new Set(SHOP_TOOLS.map(({ name }) => name)));
  if (button !== null) offerSignIn(agent, button);
}

// The same tools for the browser's own agents, if it has WebMCP. A cast: TypeScript's types do not know it yet.
const { modelContext } = document as { modelContext?: { registerTool(tool: PageTool): Promise<void> } };
for (const tool of SHOP_TOOLS) void modelContext?.registerTool(tool).catch(() => {});
