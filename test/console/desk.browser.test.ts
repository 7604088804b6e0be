// For src/console/inbox/, src/console/conversation/
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { SOON, launchBrowser, test } from "../widget/browser.ts";
import { accessibilityTroubles, enter } from "./operating.ts";
import { enterShop, startShop } from "./shop-service.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

test("operators see people, label, annotate and snooze a conversation, and hand it over", async ({
  visit,
  expect,
}) => {
  const { service, store } = await startShop();
  const shop = await store.channel("shop");
  await store.putChannel({ ...shop!, handoff: { enabled: true, queues: ["returns", "sales"] } });
  const agent = (await store.operators(() => {})).find(({ name }) => name === "agent")!;
  const visitor = await enterShop(service.url, "cart");
  await visitor.say("Where is my parcel?\nIt was sent on Monday.");
  const { page, troubles } = await visit(browser, `${service.url}/console#key=op_agent`);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await enter(page, "#/inbox");
  const row = page.getByRole("link", { name: /Where is my parcel\?/ });
  await row.press("Enter");

  await page.getByLabel("Add a label").fill("delivery");
  await page.getByLabel("Add a label").press("Enter");
  await page.getByRole("button", { name: "Remove the label delivery" }).waitFor();
  await page.locator("h1").click();
  await page.keyboard.press("n");
  await page.getByLabel("A note").fill("Known for returns");
  await page.getByRole("button", { name: "Add the note" }).press("Enter");
  await page.getByText("Known for returns").waitFor();
  expect(await accessibilityTroubles(page)).toEqual([]);

  await page.locator("h1").click();
  await page.keyboard.press("s");
  await page.getByRole("button", { name: "Tomorrow morning" }).press("Enter");
  await page.getByRole("button", { name: /Snoozed until .*: wake it/ }).waitFor();
  await enter(page, "#/inbox");
  await page.getByRole("heading", { name: /Snoozed/ }).waitFor();
  await row.getByText("delivery").waitFor();
  // Live: the visitor writes, and it is in sight again.
  await visitor.say("Hello?");
  await page.getByRole("heading", { name: /Recent/ }).waitFor();
  await expect.poll(() => page.getByRole("heading", { name: /Snoozed/ }).count(), SOON).toBe(0);

  await row.press("Enter");
  await page.getByRole("button", { name: "Take over" }).press("Enter");
  // From here on the assistant answers nothing.
  await page.getByLabel("Your answer").waitFor();
  await visitor.say("And my mug?");
  await page.getByRole("log").getByText("And my mug?").waitFor();
  await page.getByRole("button", { name: "Suggest an answer" }).press("Enter");
  await expect.poll(() => page.getByLabel("Your answer").inputValue(), SOON).toBe("You said: And my mug?");
  await page.getByLabel("Your answer").press("Enter");
  await page.getByRole("article", { name: "agent:" }).getByText("You said: And my mug?").waitFor();

  await page.getByRole("button", { name: "Hand over…" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Hand it over" });
  await dialog.getByRole("button", { name: "shop-agent", exact: true }).press("Enter");
  await page.getByText("with a person").first().waitFor();
  await page.getByText("shop-agent", { exact: true }).first().waitFor();
  await page.getByRole("button", { name: "Hand over…" }).press("Enter");
  await dialog.getByRole("button", { name: "returns" }).press("Enter");
  await page.getByText("waits for a person").first().waitFor();
  // An operator of another queue sees it where every queue is shown.
  await store.replaceOperator({ ...agent, queues: ["sales"] }, agent);
  await page.reload();
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await enter(page, "#/inbox");
  await page.getByRole("combobox", { name: "Queue" }).waitFor();
  await expect.poll(() => row.count(), SOON).toBe(0);
  await page.getByRole("combobox", { name: "Queue" }).selectOption("Every queue");
  await row.waitFor();
  await enter(page, "#/inbox?queue=sales");
  await page.getByRole("combobox", { name: "Queue" }).waitFor();
  await expect.poll(() => row.count(), SOON).toBe(0);
  await enter(page, "#/inbox?queue=returns");
  await row.waitFor();
  await page.getByRole("heading", { name: /Waiting for a person/ }).waitFor();
  expect(await accessibilityTroubles(page)).toEqual([]);
  expect(troubles).toEqual([]);
});
