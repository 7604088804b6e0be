// For src/console/day.md
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { call, lastUserText, say } from "../support/servers/model-server.ts";
import { launchBrowser, SOON, test } from "../widget/browser.ts";
import type { Visit } from "../widget/browser.ts";
import { SECRET, startReceiver } from "../webhooks/receiver.ts";
import { accessibilityTroubles, enter } from "./operating.ts";
import { openStaffedShop } from "./staffed-shop.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

const SUMMARY = "Ada's parcel 1001 is ten days late. She wants her money back.";

test("a day in the life of a shop's people", async ({ visit, expect }) => {
  const receiver = await startReceiver();
  const shop = await openStaffedShop({
    handoff: {
      queues: ["returns", "sales"],
      answerSeconds: 3,
      replies: ["I am sorry. The refund is on its way.", "Have a nice day!"],
    },
    webhooks: [{ url: receiver.url, secret: SECRET }],
    script: (request) =>
      lastUserText(request).includes("a person")
        ? [call("hand_off", { reason: "Wants a refund", summary: SUMMARY, queue: "returns" })]
        : [say(`You said: ${lastUserText(request)}`)],
  });
  const [kimsConsole, annsConsole] = [
    await shop.hire({ name: "kim", displayName: "Kim", queues: ["returns"] }),
    await shop.hire({ name: "ann", displayName: "Ann", queues: ["sales"] }),
  ];
  const open = async (url: string): Promise<Page> => {
    const { page } = await visit(browser, url);
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await enter(page, "#/inbox");
    await page.getByRole("heading", { name: "Inbox", level: 1 }).waitFor();
    return page;
  };
  const come = async (text: string): Promise<Visit> => {
    const one = await visit(browser, shop.page);
    await one.say(text);
    return one;
  };
  const row = (desk: Page, text: RegExp) => desk.getByRole("link", { name: text });

  // Morning.
  const ada = await come("Where is parcel 1001?");
  await ada.log.getByText("You said: Where is parcel 1001?").waitFor();
  await ada.say("GIVE ME a person, NOW!");
  await ada.agent.getByText("Waiting for a person…").waitFor();
  const ben = await come("Do you have blue mugs?");
  await ben.log.getByText("You said: Do you have blue mugs?").waitFor();
  const kim = await open(kimsConsole);
  await kim.getByRole("heading", { name: "Waiting for a person 1" }).waitFor();
  await row(kim, /Where is parcel 1001\?/).press("Enter");
  await kim.getByText(SUMMARY).waitFor();

  // An angry customer.
  // A key does what its button does, once that is there.
  await kim.getByRole("button", { name: "Take over" }).waitFor();
  await kim.locator("h1").click();
  await kim.keyboard.press("t");
  await kim.getByLabel("Your answer").fill("/refund");
  await kim.getByLabel("Your answer").press("Enter");
  await expect
    .poll(() => kim.getByLabel("Your answer").inputValue(), SOON)
    .toBe("I am sorry. The refund is on its way.");
  await kim.getByLabel("Your answer").press("Enter");
  await ada.log.getByText("I am sorry. The refund is on its way.").waitFor();
  await kim.getByLabel("Add a label").fill("angry");
  await kim.getByLabel("Add a label").press("Enter");
  await kim.getByRole("button", { name: "Remove the label angry" }).waitFor();
  await kim.locator("h1").click();
  await kim.keyboard.press("n");
  await kim.getByLabel("A note").fill("Third late parcel: offer a voucher");
  await kim.getByRole("button", { name: "Add the note" }).press("Enter");
  await kim.getByText("Third late parcel: offer a voucher").waitFor();

  // To a colleague.
  const ann = await open(annsConsole);
  await kim.locator("h1").click();
  await kim.keyboard.press("h");
  await kim.getByRole("dialog").getByRole("button", { name: "Ann", exact: true }).press("Enter");
  await ada.log.getByText("Ann has joined.").waitFor();
  await ann.getByRole("heading", { name: "Yours 1" }).waitFor();
  await row(ann, /Where is parcel 1001\?.*angry/).press("Enter");
  await ann.getByText("Notes for colleagues").waitFor();
  await ann.locator("h1").click();
  await ann.keyboard.press("n");
  await ann.getByText("Third late parcel: offer a voucher").waitFor();
  await ann.getByLabel("Your answer").fill("Here is a voucher as well.");
  await ann.getByLabel("Your answer").press("Enter");
  await ada.log.getByText("Here is a voucher as well.").waitFor();
  await ann.getByRole("button", { name: "Close" }).press("Enter");
  await ada.agent.getByRole("button", { name: "Good", exact: true }).press("Enter");
  await ada.agent.getByRole("button", { name: "Skip" }).press("Enter");

  // Lunch.
  await enter(kim, "#/inbox");
  await ben.agent.getByRole("button", { name: "Talk to a person" }).press("Enter");
  await row(kim, /Do you have blue mugs\?/).press("Enter");
  await kim.getByRole("button", { name: "Take over" }).press("Enter");
  await ben.log.getByText("Kim has joined.").waitFor();
  await ben.say("Are you there?");
  await ben.log.getByText("Sorry that you had to wait. I am asking for a person again.").waitFor();
  await enter(ann, "#/inbox");
  await ann.getByRole("heading", { name: "Waiting for a person 1" }).waitFor();
  await row(ann, /Do you have blue mugs\?/).press("Enter");
  await ann.getByRole("log").getByText("kim (Kim) left the visitor without an answer").waitFor();
  await ann.getByRole("button", { name: "Take over" }).press("Enter");
  await ann.getByLabel("Your answer").fill("We do, from Tuesday on.");
  await ann.getByLabel("Your answer").press("Enter");
  await ben.log.getByText("We do, from Tuesday on.").waitFor();
  await ann.getByRole("button", { name: "Close" }).press("Enter");
  await ben.log.getByText("Ann has closed the conversation.").waitFor();

  // Outside the hours.
  const day = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][(new Date().getUTCDay() + 2) % 7]!;
  await shop.ask("/channels/shop", "PATCH", {
    handoff: { enabled: true, hours: { timeZone: "UTC", week: { [day]: ["00:00-24:00"] } } },
  });
  const cem = await come("Can I change my order 1007?");
  await cem.agent.getByText(/A person is here again/).waitFor();
  await cem.agent.getByLabel("E-mail address").fill("cem@example.com");
  await cem.agent.getByLabel("E-mail address").press("Enter");
  await cem.agent.getByText("We will write to cem@example.com.").waitFor();
  const missed = () => receiver.told.find(({ type }) => type === "handoff.missed")?.data["address"];
  await expect.poll(missed, SOON).toBe("cem@example.com");
  await enter(kim, "#/inbox");
  await row(kim, /Can I change my order 1007\?/).press("Enter");
  await kim.getByText("cem@example.com").waitFor();
  await kim.getByRole("button", { name: "Snooze…" }).waitFor();
  await kim.locator("h1").click();
  await kim.keyboard.press("s");
  await kim.getByRole("button", { name: "Monday morning" }).press("Enter");
  await enter(kim, "#/inbox");
  await kim.getByRole("heading", { name: "Snoozed 1" }).waitFor();
  expect(await accessibilityTroubles(kim)).toEqual([]);

  // Friday.
  await enter(kim, "#/");
  await kim.getByRole("heading", { name: "People" }).waitFor();
  const report = async () => (await shop.ask("/reports/people?channel=shop&format=csv")).text();
  await expect.poll(report, SOON).toMatch(/\r\nreturns,ann,.*,1,4\r\n/);
  // Without the browser's own dialog it goes to the downloads.
  await kim.evaluate("globalThis.showSaveFilePicker = undefined");
  const saving = kim.waitForEvent("download");
  await kim.getByRole("button", { name: "Save as CSV" }).click();
  expect((await saving).suggestedFilename()).toMatch(/^people-.*\.csv$/);
});
