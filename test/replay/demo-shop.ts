import type { PageTool } from "../../src/domain/channels/page-tool.ts";
import type { Checks } from "../../src/replay/case.ts";
import { tool } from "../agent/mcp/sessions.ts";
import type { Tool } from "@modelcontextprotocol/sdk/types.js";

/** The shop in which the demo conversations were recorded: its page's tools, its server's tools, and what was said. */
const wordOf = (name: string, description: string) => ({
  type: "object" as const,
  properties: { [name]: { type: "string", description } },
  required: [name],
});

export const PAGE_TOOLS: PageTool[] = [
  {
    name: "search_products",
    description: "Search the shop's products by a word. Answers with id, name and price in euros.",
    inputSchema: wordOf("query", "What to look for, for example: mug"),
  },
  {
    name: "add_to_cart",
    description: "Put a product into the cart, by its id from search_products.",
    inputSchema: wordOf("product_id", "A product's id"),
  },
];

export const SERVER_TOOLS: Tool[] = [
  tool("order_status", {
    title: "Order status",
    description: "Where an order is. Order numbers have four digits.",
    inputSchema: wordOf("orderId", "The order number, for example 1001"),
    annotations: { readOnlyHint: true },
  }),
  tool("clock", { title: "Clock", description: "The present date and time, in UTC." }),
];

const ORDERS: Record<string, string> = {
  "1001": "Order 1001 was shipped yesterday and arrives tomorrow.",
  "1002": "Order 1002 is being packed and leaves the warehouse today.",
};

/** What a tool of the shop answers, the page's and the server's. */
export function answerOf(name: string, args: Record<string, unknown>): { text: string; isError: boolean } {
  switch (name) {
    case "order_status": {
      const known = ORDERS[String(args["orderId"])];
      return { text: known ?? "There is no such order.", isError: known === undefined };
    }
    case "clock":
      return { text: "Monday, 3 March 2025, 12:30 UTC", isError: false };
    case "search_products":
      return /mug/.test(String(args["query"]))
        ? { text: 'mug-1 "Red enamel mug" 12.50', isError: false }
        : { text: "No products found.", isError: false };
    case "add_to_cart":
      return { text: `In the cart: ${String(args["product_id"])}`, isError: false };
    default:
      return { text: `There is no ${name}`, isError: true };
  }
}

export interface DemoConversation {
  name: string;
  /** Over the widget API, from a page with the tools above. */
  onPage: boolean;
  said: string[];
  /** The page never answers its calls. */
  isLeft?: true;
  checks: Checks;
}

const call = (name: string, args: Record<string, unknown> = {}) => ({ tool: name, arguments: args });

export const CONVERSATIONS: DemoConversation[] = [
  { name: "a greeting", onPage: false, said: ["Hello"], checks: { contains: ["demo model"], maxTurns: 1 } },
  {
    name: "an order",
    onPage: false,
    said: ["Where is order 1002?"],
    checks: { contains: ["being packed"], calls: [call("order_status", { orderId: "1002" })], maxTurns: 2 },
  },
  { name: "the time", onPage: false, said: ["What time is it?"], checks: { calls: [call("clock")] } },
  {
    name: "an order that is not there",
    onPage: false,
    said: ["Where is order 9999?"],
    checks: { contains: ["no such order"], notCalls: ["clock"] },
  },
  {
    name: "two orders",
    onPage: false,
    said: ["Where is order 1001?", "And where is order 1002?"],
    checks: { contains: ["1001 was shipped", "1002 is being packed"], maxTurns: 4 },
  },
  {
    name: "a search",
    onPage: true,
    said: ["Find a red mug"],
    checks: { contains: ["Red enamel mug"], calls: [call("search_products")], notCalls: ["add_to_cart"] },
  },
  {
    name: "a purchase",
    onPage: true,
    said: ["Hello", "Buy a red mug"],
    checks: { calls: [call("search_products"), call("add_to_cart")] },
  },
  {
    name: "nothing found",
    onPage: true,
    said: ["Find a piano"],
    checks: { contains: ["No products found"] },
  },
  {
    name: "what it cannot do",
    onPage: true,
    said: ["Fly me to the moon", "Where is order 1001?"],
    checks: { notCalls: ["search_products"], calls: [call("order_status")] },
  },
  {
    name: "a page that is left",
    onPage: true,
    said: ["Find a mug", "Hello"],
    isLeft: true,
    checks: { calls: [call("search_products")], maxTurns: 2 },
  },
];
