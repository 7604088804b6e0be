// For src/service.ts, src/start/
import { expect, test } from "vitest";
import { openScriptedModel } from "./support/servers/open-model.ts";
import { sendMessage, startTestService } from "./support/servers/service.ts";

const MESSAGE = { threadId: "t1", userId: "u1", text: "Hello" };

test("MCP servers of this instance are offered to the model, and are in no store", async () => {
  const { server, model } = await openScriptedModel();
  const command = { command: process.execPath, args: ["--import", "tsx", "src/demo/mcp-server.ts"] };
  const service = await startTestService({ model, ownServers: { cli: { shop: command } } });
  await sendMessage(service.url, MESSAGE);
  const offered = server.requests[0]?.body.tools?.map((tool) =>
    tool.type === "function" ? tool.function.name : "",
  );
  expect(offered).toContain("order_status");
  expect(JSON.stringify(await service.store.channels())).not.toContain("mcp-server");
});
