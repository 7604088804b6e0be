// For src/console/conversation/approval.tsx
import { onTestFinished } from "vitest";
import { startMcpHttpServer } from "../agent/mcp/mcp-http-server.ts";
import { call } from "../support/servers/model-server.ts";
import { launchBrowser, SOON, test } from "../widget/browser.ts";
import { accessibilityTroubles } from "./operating.ts";
import { openStaffedShop } from "./staffed-shop.ts";

test("an operator approves a call that waits for one, or declines it, and the visitor sees what came of it", async ({
  visit,
  expect,
}) => {
  const mcp = await startMcpHttpServer([[{ name: "refund", inputSchema: { type: "object" } }]]);
  const shop = await openStaffedShop({
    agent: { mcpServers: { orders: { url: mcp.url } }, tools: { confirm: ["refund"], by: "operator" } },
    script: (request) => {
      const last = request.body.messages.at(-1);
      return last?.role === "tool"
        ? `It said: ${JSON.stringify(last.content)}`
        : [call("refund", { order: "1001", amount: "18 euros" })];
    },
  });
  const browser = await launchBrowser({ webMcp: false });
  onTestFinished(async () => {
    await browser.close();
    await mcp.close();
  });
  const visitor = await visit(browser, shop.page);
  const { page } = await visit(browser, shop.console);
  await visitor.say("I want my money back");
  await visitor.log.getByText("refund", { exact: false }).first().waitFor();
  const card = page.getByRole("region", { name: "A call that waits for approval" });
  const threadId = await visitor.tell<string>("agent.threadId");
  // The inbox says so by itself, and leads there.
  await page.evaluate(`location.hash = "#/inbox"`);
  await page.getByRole("heading", { name: "Waiting for your approval" }).waitFor();
  await page.getByText("asks for approval").click();
  await card.waitFor();
  expect(page.url()).toContain(threadId);
  expect(await card.textContent()).toContain("18 euros");
  // The visitor is not asked.
  expect(await visitor.log.getByRole("button", { name: "Allow" }).count()).toBe(0);
  expect(await accessibilityTroubles(page)).toEqual([]);
  await card.getByRole("button", { name: "Approve" }).press("Enter");
  await visitor.log.getByText("refund did it").waitFor();
  await expect.poll(() => card.count(), SOON).toBe(0);
  expect(mcp.calls).toHaveLength(1);

  await visitor.say("Once more");
  await card.waitFor();
  await card.getByRole("button", { name: "Decline" }).click();
  await visitor.log.getByText("was not approved").waitFor();
  expect(mcp.calls).toHaveLength(1);
});
