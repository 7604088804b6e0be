import { defineChatAgent } from "./define.ts";

export { ChatAgent } from "./element.ts";

defineChatAgent(import.meta.url, () => import("./view/markdown.ts"));
