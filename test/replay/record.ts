import { systemClock } from "../../src/clock.ts";
import type { Line } from "../../machines/line.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { startMcpHttpServer } from "../agent/mcp/mcp-http-server.ts";
import type { McpHttpServer } from "../agent/mcp/mcp-http-server.ts";
import { openShopper, shopChannel } from "../models/shopper.ts";
import { openTestService, sendMessage } from "../support/servers/service.ts";
import type { TestService } from "../support/servers/service.ts";
import { answerOf, PAGE_TOOLS, SERVER_TOOLS } from "./demo-shop.ts";
import type { DemoConversation } from "./demo-shop.ts";

/** The shop's service on a store of its own, with the demo model, as the demo conversations are held with it. */
export interface RecordedShop {
  service: TestService;
  orders: McpHttpServer;
  close(): Promise<void>;
}

export async function openShop(dataDir: string): Promise<RecordedShop> {
  const orders = await startMcpHttpServer([SERVER_TOOLS], ({ name, arguments: args = {} }) => {
    const { text, isError } = answerOf(name, args);
    return Promise.resolve({ content: [{ type: "text", text }], isError });
  });
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  const service = await openTestService({
    store,
    env: { MCP_PRIVATE: "on" },
    channels: [
      shopChannel({ instructions: "You help in a shop.", mcpServers: { orders: { url: orders.url } } }),
    ],
  });
  return {
    service,
    orders,
    async close() {
      await service.close();
      await store.close();
      await orders.close();
    },
  };
}

/** Holds a conversation; resolves with the service's id of its thread. */
export async function hold({ service }: RecordedShop, conversation: DemoConversation): Promise<string> {
  return conversation.onPage ? holdOnPage(service, conversation) : holdByServer(service, conversation);
}

async function holdByServer({ url, store }: TestService, { name, said }: DemoConversation): Promise<string> {
  const threadId = name.replaceAll(" ", "-");
  for (const text of said) await sendMessage(url, { threadId, userId: name, text, channel: "shop" });
  const user = await store.findUser("shop", name);
  const [thread] = user === null ? [] : await store.threads("shop", user.userId);
  if (!thread) throw new Error(`Cannot find the thread of ${name}`);
  return thread.uid;
}

async function holdOnPage({ url, store }: TestService, { said, isLeft }: DemoConversation): Promise<string> {
  const shopper = await openShopper(() => url, PAGE_TOOLS);
  for (const text of said) {
    let last: Line | undefined = (await shopper.say(text)).at(-1);
    while (last?.type === "tool_call" && !isLeft) {
      const answer = answerOf(last.tool, last.arguments);
      last = (await shopper.answer(last, answer.text, answer.isError)).at(-1);
    }
  }
  for (const { userId } of await store.users("shop")) {
    const thread = (await store.threads("shop", userId)).find((each) => each.threadId === shopper.threadId);
    if (thread) return thread.uid;
  }
  throw new Error(`Cannot find thread ${shopper.threadId}`);
}
