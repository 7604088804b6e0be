// For src/widget/run/thread/branch-out.ts, src/widget/run/thread/approve-calls.ts, src/widget/view/message/message-tools.tsx,
// src/widget/run/thread/say-now.ts, src/widget/view/approval.tsx, src/widget/view/message/brancher.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { startMcpHttpServer } from "../../agent/mcp/mcp-http-server.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { call, hold, lastUserText, say, startModelServer } from "../../support/servers/model-server.ts";
import type { Script } from "../../support/servers/model-server.ts";
import { startServiceProcess } from "../../support/servers/service-process.ts";
import { launchBrowser, SOON, test } from "../browser.ts";
import type { OpenVisit, Visit } from "../browser.ts";
import { violations } from "../page/axe.ts";
import { startPageServer } from "../page/page-server.ts";

/** A page of a real service, whose tool `cancel_order` needs the visitor's approval. */
async function openShop(visit: OpenVisit, script: Script, more: object = {}) {
  const model = await startModelServer(script);
  const mcp = await startMcpHttpServer([[{ name: "cancel_order", inputSchema: { type: "object" } }]]);
  const browser = await launchBrowser({ webMcp: false });
  const folder = temporaryFolder();
  const port = await freePort();
  const site = await startPageServer(`http://127.0.0.1:${port}`);
  const channelsFile = join(folder, "channels.json");
  const shop = { slug: "shop", kind: "web", publishableKey: "pk_test", secretKey: "sk_shop" };
  const agent = { mcpServers: { orders: { url: mcp.url } }, tools: { confirm: ["cancel_order"] }, ...more };
  writeFileSync(channelsFile, JSON.stringify({ channels: [{ ...shop, agent, allowedOrigins: [site.url] }] }));
  await startServiceProcess({
    PORT: String(port),
    DATA_DIR: folder,
    CHANNELS_FILE: channelsFile,
    HARNESS_API_KEY: "tk_test",
    OPENAI_BASE_URL: model.baseUrl,
    MCP_PRIVATE: "on",
  });
  onTestFinished(async () => {
    await browser.close();
    await Promise.all([model.close(), site.close(), mcp.close()]);
  });
  return {
    at: await visit(browser, `${site.url}/`),
    model,
    mcp,
    again: () => visit(browser, `${site.url}/`),
  };
}

const shown = ({ log }: Visit) => log.locator(".message .user-text, .message .text").allTextContents();
const settled = async (expect: { poll: typeof import("vitest").expect.poll }, at: Visit) => {
  await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
};

test("a message is said otherwise, and a reply made anew, by keyboard; a reload shows the same branch", async ({
  expect,
  visit,
}) => {
  let nth = 0;
  const { at, model } = await openShop(visit, (request) => `${++nth}: ${lastUserText(request)}`);
  await at.say("A red mug");
  await at.log.getByText("1: A red mug").waitFor();
  await settled(expect, at);
  await at.say("Two of it");
  await at.log.getByText("2: Two of it").waitFor();
  await settled(expect, at);

  await at.log.getByRole("button", { name: "Edit" }).first().press("Enter");
  const words = at.log.getByRole("textbox", { name: "Edit" });
  await expect.poll(() => words.evaluate((box) => box.matches(":focus")), SOON).toBe(true);
  expect(await words.inputValue()).toBe("A red mug");
  expect(await violations(at)).toEqual([]);
  await words.press("Escape");
  await at.log.getByRole("button", { name: "Edit" }).first().press("Enter");
  await words.fill("A blue mug");
  await words.press("Enter");
  await at.log.getByText("3: A blue mug").waitFor();
  await settled(expect, at);
  await expect.poll(() => shown(at), SOON).toEqual(["A blue mug", "3: A blue mug"]);
  const told = model.requests.at(-1)?.body.messages.filter(({ role }) => role !== "system");
  expect(told?.map(({ content }) => content)).toEqual(["A blue mug"]);

  await at.log.getByRole("button", { name: "Answer again" }).press("Enter");
  await at.log.getByText("4: A blue mug").waitFor();
  await settled(expect, at);
  await expect.poll(() => shown(at), SOON).toEqual(["A blue mug", "4: A blue mug"]);
  await at.log.getByRole("button", { name: "Answer again" }).click();
  await at.log.getByText("5: A blue mug").waitFor();
  await settled(expect, at);
  await at.page.reload();
  await expect.poll(() => shown(at), SOON).toEqual(["A blue mug", "5: A blue mug"]);
  await at.say("Thanks");
  await expect.poll(() => shown(at), SOON).toEqual(["A blue mug", "5: A blue mug", "Thanks", "6: Thanks"]);
  expect(at.troubles).toEqual([]);
});

test("another tab of the visitor shows the branch that was begun in this one", async ({ expect, visit }) => {
  let nth = 0;
  const { at } = await openShop(visit, (request) => `${++nth}: ${lastUserText(request)}`);
  await at.say("A red mug");
  await settled(expect, at);
  const other = await at.page.context().newPage();
  await other.goto(at.page.url());
  await other.getByRole("button", { name: "Open chat" }).click();
  const log = other.getByRole("log");
  await log.getByText("1: A red mug").waitFor();
  await at.log.getByRole("button", { name: "Edit" }).click();
  await at.log.getByRole("textbox", { name: "Edit" }).fill("A blue mug");
  await at.log.getByRole("button", { name: "Send" }).click();
  await log.getByText("2: A blue mug").waitFor();
  await expect
    .poll(() => log.locator(".message .user-text, .message .text").allTextContents(), SOON)
    .toEqual(["A blue mug", "2: A blue mug"]);
});

test("a call that needs approval asks with what would be called, is made or not as the visitor says, also after a reload", async ({
  expect,
  visit,
}) => {
  const { at, mcp } = await openShop(visit, (request) => {
    const result = request.body.messages.at(-1);
    return result?.role === "tool"
      ? `It said: ${JSON.stringify(result.content)}`
      : [call("cancel_order", { order: "1001" })];
  });
  await at.say("Cancel it");
  const card = at.log.getByRole("group", { name: "Allow this action?" });
  await card.waitFor();
  expect(await card.textContent()).toContain("cancel_order");
  expect(await card.textContent()).toContain("1001");
  expect(await card.getByRole("button").allTextContents()).toEqual(["Allow", "Decline"]);
  expect(await violations(at)).toEqual([]);
  await at.page.reload();
  await card.waitFor();
  expect(mcp.calls).toEqual([]);
  await card.getByRole("button", { name: "Allow" }).press("Enter");
  await at.log.getByText("cancel_order did it").waitFor();
  await expect.poll(() => card.count(), SOON).toBe(0);
  expect(mcp.calls).toHaveLength(1);
  await settled(expect, at);

  await at.say("Cancel it again");
  await card.waitFor();
  await card.getByRole("button", { name: "Decline" }).click();
  await at.log.getByText("was not approved").waitFor();
  await settled(expect, at);

  await at.say("Cancel it once more");
  await card.waitFor();
  expect(mcp.calls).toHaveLength(1);
  expect(at.troubles).toEqual([]);
});

test("where a message interrupts, it is sent while a reply is being written, which ends with what it has said", async ({
  expect,
  visit,
}) => {
  const { at, model } = await openShop(
    visit,
    (request) => (lastUserText(request) === "Everything" ? [say("First of all"), hold()] : "18 euros"),
    { whileRunning: "interrupt" },
  );
  await at.say("Everything");
  await at.log.getByText("First of all").waitFor();
  await at.composer.fill("Only the price");
  await at.composer.press("Enter");
  await at.log.getByText("18 euros").waitFor();
  await settled(expect, at);
  const all = ["Everything", "First of all", "Only the price", "18 euros"];
  await expect.poll(() => shown(at), SOON).toEqual(all);
  expect(await at.composer.inputValue()).toBe("");
  expect(model.requests).toHaveLength(2);
  await at.page.reload();
  await expect.poll(() => shown(at), SOON).toEqual(all);
  expect(at.troubles).toEqual([]);
});
