/**
 * The demo's MCP server, on stdio: a clock, and an order look-up with a few invented orders. Runs as a process of its own:
 * `node dist/src/demo/mcp-server.js`.
 */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const ORDERS: ReadonlyMap<string, string> = new Map([
  ["1001", "Order 1001 was shipped yesterday and arrives tomorrow."],
  ["1002", "Order 1002 is being packed and leaves the warehouse today."],
  ["1003", "Order 1003 was delivered last Monday."],
  ["1004", "Order 1004 was cancelled; the money is on its way back."],
]);

/** Both tools only read: a call may be repeated after a crash. */
const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const server = new McpServer({ name: "chat-agent-demo", version: "1" });

server.registerTool(
  "clock",
  {
    title: "Clock",
    description: "The present date and time, in UTC or in a time zone.",
    inputSchema: { timeZone: z.string().optional().describe("IANA name, for example Europe/Berlin") },
    annotations,
  },
  ({ timeZone = "UTC" }) => clock(timeZone),
);

server.registerTool(
  "order_status",
  {
    title: "Order status",
    description: "Where an order is. Order numbers have four digits.",
    inputSchema: { orderId: z.string().describe("The order number, for example 1001") },
    annotations,
  },
  ({ orderId }) => orderStatus(orderId),
);

await server.connect(new StdioServerTransport());

function clock(timeZone: string): CallToolResult {
  try {
    return answered(new Date().toLocaleString("en-GB", { timeZone, dateStyle: "full", timeStyle: "long" }));
  } catch {
    return failed(`There is no time zone ${JSON.stringify(timeZone)}. Use a name such as Europe/Berlin.`);
  }
}

function orderStatus(orderId: string): CallToolResult {
  const status = ORDERS.get(orderId.trim().replace(/^#/, ""));
  if (status) return answered(status);
  return failed(
    `There is no order ${JSON.stringify(orderId)}. Ask for the four digits in the order's confirmation, such as 1001.`,
  );
}

function answered(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function failed(text: string): CallToolResult {
  return { ...answered(text), isError: true };
}
