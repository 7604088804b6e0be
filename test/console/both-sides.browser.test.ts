// For src/widget/view/people/, src/console/conversation/changes.ts
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchBrowser, SOON, test } from "../widget/browser.ts";
import type { Visit } from "../widget/browser.ts";
import { accessibilityTroubles, enter } from "./operating.ts";
import { openStaffedShop } from "./staffed-shop.ts";

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

/** What the visitor leaves takes its time: who leaves the page when it is shown as left must not lose it. */
async function slowly(visitor: Visit, what: "address" | "rating"): Promise<void> {
  await visitor.page.route(`**/${what}`, async (route) => {
    await visitor.page.waitForTimeout(500);
    await route.continue();
  });
}

/** Its operator `local` is Kim to visitors. */
async function openShop(handoff: object = {}) {
  const shop = await openStaffedShop({ handoff });
  await shop.ask("/operators/local", "PATCH", { displayName: "Kim", picture: PNG });
  return shop;
}

test("both sides see who answered when, after a reload too; the visitor says how it was", async ({
  visit,
  expect,
}) => {
  const { ask, page, console } = await openShop();
  const visitor = await visit(browser, page);
  await visitor.say("Where is my parcel?");
  await visitor.log.getByText("You said: Where is my parcel?").waitFor();
  await visitor.agent.getByRole("button", { name: "Talk to a person" }).press("Enter");
  await visitor.log.getByText("A person was asked for.").waitFor();

  const { page: desk, troubles } = await visit(browser, console);
  await desk.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await enter(desk, "#/inbox");
  await desk.getByRole("link", { name: /Where is my parcel\?/ }).press("Enter");
  await desk.getByRole("log").getByText("A person was asked for").waitFor();
  await desk.getByRole("button", { name: "Take over" }).press("Enter");
  await desk.getByRole("log").getByText("local (Kim) has taken it").waitFor();
  await visitor.log.getByText("Kim has joined.").waitFor();
  await visitor.agent.locator(".header .face.human").waitFor();
  await desk.getByLabel("Your answer").fill("It comes on Tuesday.");
  await desk.getByLabel("Your answer").press("Enter");
  await visitor.log.getByText("It comes on Tuesday.").waitFor();
  await desk.getByRole("button", { name: "Close" }).press("Enter");
  await visitor.log.getByText("Kim has closed the conversation.").waitFor();

  await slowly(visitor, "rating");
  const rating = visitor.agent.getByRole("group", { name: "How was it with Kim?" });
  await rating.getByRole("button", { name: "Very good" }).press("Enter");
  await visitor.agent.getByLabel("Anything else? (optional)").fill("Quick!");
  await visitor.agent.getByLabel("Anything else? (optional)").press("Enter");
  await expect.poll(() => rating.count(), SOON).toBe(0);

  await visitor.page.reload();
  await visitor.log.getByText("Kim has closed the conversation.").waitFor();
  const order = await visitor.log.locator(".change, .message").allTextContents();
  expect(order.map((text) => /Where|asked for|joined|Tuesday|closed/.exec(text)?.[0])).toEqual([
    "Where",
    "Where",
    "asked for",
    "joined",
    "Tuesday",
    "closed",
  ]);
  expect(await rating.count()).toBe(0);

  await desk.reload();
  await desk.getByText("5 of 5: Quick!").waitFor();
  await desk.getByRole("log").getByText("local (Kim) has closed it").waitFor();
  expect(await accessibilityTroubles(desk)).toEqual([]);
  // The report.
  const report = async () => (await ask("/reports/people?format=csv")).text();
  await expect.poll(report, SOON).toMatch(/\r\n,local,0,1,0,0,1,.*,1,5\r\n/);
  await enter(desk, "#/");
  await desk.getByRole("row", { name: /local .* 5 \(1\)/ }).waitFor();
  expect(troubles).toEqual([]);
  expect(visitor.troubles.filter((text) => !text.includes("img-src"))).toEqual([]);
});

test("outside the hours a visitor leaves an address, which operators see, after a reload too", async ({
  visit,
  expect,
}) => {
  // Always on the day after tomorrow.
  const day = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][(new Date().getUTCDay() + 2) % 7]!;
  const hours = { timeZone: "UTC", week: { [day]: ["00:00-24:00"] } };
  const { page, console } = await openShop({ hours });
  const visitor = await visit(browser, page);
  await visitor.say("I want my money back");
  await visitor.log.getByText("You said: I want my money back").waitFor();
  await slowly(visitor, "address");
  const form = visitor.agent.getByLabel("E-mail address");
  await form.fill("ada@example.com");
  await form.press("Enter");
  await visitor.agent.getByText("We will write to ada@example.com.").waitFor();
  await visitor.page.reload();
  await visitor.agent.getByText("We will write to ada@example.com.").waitFor();

  const { page: desk, troubles } = await visit(browser, console);
  await desk.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await enter(desk, "#/inbox");
  const row = desk.getByRole("link", { name: /I want my money back/ });
  // Chosen by the keyboard, and labelled with others.
  await row.focus();
  await desk.keyboard.press("x");
  await desk.getByRole("button", { name: "Label…" }).press("Enter");
  await desk.getByLabel("Label", { exact: true }).fill("refund");
  await desk.getByLabel("Label", { exact: true }).press("Enter");
  await row.getByText("refund").waitFor();
  expect(await accessibilityTroubles(desk)).toEqual([]);
  await row.press("Enter");
  await desk.getByText("ada@example.com").waitFor();
  // By words, in every channel.
  await desk.locator("h1").click();
  await desk.keyboard.press("/");
  await desk.getByLabel("ID of a user or a conversation").fill("money back");
  await desk.getByLabel("ID of a user or a conversation").press("Enter");
  await desk.getByRole("link", { name: "I want my money back in shop" }).waitFor();
  expect(troubles).toEqual([]);
  expect(visitor.troubles).toEqual([]);
});
