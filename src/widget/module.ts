import { defineChatAgent } from "./define-chat-agent.ts";

export { ChatAgent } from "./chat-agent.ts";

defineChatAgent(import.meta.url, () => import("./panel-chunk.ts"));
