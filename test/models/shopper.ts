import type { Line } from "../../machines/line.ts";
import type { Channel } from "../../src/domain/channels/channel.ts";
import type { PageTool } from "../../src/domain/channels/page-tool.ts";

const ORIGIN = "https://shop.example";

/** A web channel whose visitors are served by the named model. */
export function shopChannel(agent: Channel["agent"] = {}): Channel {
  return {
    slug: "shop",
    kind: "web",
    publishableKey: "pk_shop",
    secretKeyHash: null,
    allowedOrigins: [ORIGIN],
    enabled: true,
    accessMode: "open",
    agent,
  };
}

const BUY: PageTool = {
  name: "buy",
  inputSchema: {
    type: "object",
    properties: { sku: { type: "string" }, gift: { type: "object", additionalProperties: false } },
  },
};

/** A page with its tools on the widget API of whatever instance is at `url` by then. */
export async function openShopper(url: () => string, webmcpTools: readonly PageTool[] = [BUY]) {
  let headers: Record<string, string> = { origin: ORIGIN, "content-type": "application/json" };
  const ask = (path: string, body?: object) =>
    fetch(`${url()}/v1/widget${path}`, {
      method: body === undefined && path.includes("/messages") ? "GET" : "POST",
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const linesOf = async (response: Response): Promise<Line[]> =>
    (await response.text())
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);

  headers = { ...headers, "x-publishable-key": "pk_shop" };
  const { visitorToken } = (await (await ask("/visitors")).json()) as { visitorToken: string };
  headers = { origin: ORIGIN, "content-type": "application/json", "x-visitor-token": visitorToken };
  const { threadId } = (await (await ask("/threads")).json()) as { threadId: string };
  await ask("/tools", { threadId, webmcpTools });

  return {
    threadId,
    say: async (text: string) => linesOf(await ask("/messages", { threadId, text })),
    /** Answers a page call; the lines of the stream that goes on. */
    answer: async (call: Line, result: unknown = "It is in the cart.", isError = false) => {
      if (call.type !== "tool_call")
        throw new Error(`Cannot answer: the stream ended with ${JSON.stringify(call)}`);
      const { callId, tool } = call;
      return linesOf(
        await ask("/tool-results", { threadId, callId, tool, result, ...(isError ? { isError } : {}) }),
      );
    },
    async history() {
      const response = await ask(`/threads/${threadId}/messages`);
      return ((await response.json()) as { items: Record<string, unknown>[] }).items;
    },
    /** The active or last run again, to its terminal line. */
    async stream() {
      const response = await fetch(`${url()}/v1/widget/threads/${threadId}/stream`, { headers });
      return linesOf(response);
    },
  };
}

export const textOf = (lines: readonly Line[]) =>
  lines.map((line) => (line.type === "delta" ? line.text : "")).join("");
