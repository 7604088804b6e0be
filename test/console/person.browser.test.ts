// For src/console/inbox/, src/console/conversation/
import { sendMessage } from "../support/servers/service.ts";
import { SOON, test } from "../widget/browser.ts";
import { accessibilityTroubles, enter, openOperated } from "./operating.ts";

const operated = openOperated();

test("an operator hears of who waits, takes over, answers, and gives back", async ({ visit, expect }) => {
  const { browser, url, keys } = operated;
  const { harnessApiKey, localOperator } = keys;
  const owner = { threadId: "ticket-1", userId: "account-7" };
  const say = (text: string) => sendMessage(url, { ...owner, text }, harnessApiKey);
  const { page, troubles } = await visit(browser, `${url}/console#key=${localOperator}`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await enter(page, "#/channels/cli");
  await page.getByLabel("A person may take over").check();
  for (const [at, reply] of ["Good to see you.", "One moment, please."].entries()) {
    await page.getByRole("button", { name: "Add a ready answer" }).press("Enter");
    await page.getByRole("textbox", { name: `Ready answer ${at + 1}` }).fill(reply);
  }
  await page.getByRole("button", { name: "Save" }).press("Enter");
  await page.getByText("cli is changed").waitFor();
  // Longer than the place that it is shown in.
  expect((await say("Hello ".repeat(400))).status).toBe(200);

  await enter(page, "#/inbox");
  await page.getByRole("link", { name: /ticket-1/ }).waitFor();
  // The operator looks elsewhere, and has allowed the browser to tell.
  await page.evaluate(`globalThis.notices = [];
    document.hasFocus = () => false;
    globalThis.Notification = class extends EventTarget {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title, { body }) { super(); notices.push(title + ": " + body); }
    };`);
  await page.getByLabel("Show a browser notification").check();
  const asked = await fetch(`${url}/v1/threads/ticket-1/handoff`, {
    method: "POST",
    headers: { authorization: `Bearer ${harnessApiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ userId: "account-7", reason: "A refund" }),
  });
  expect(asked.status).toBe(204);
  await page.getByRole("heading", { name: /Waiting for a person/ }).waitFor();
  await page.getByRole("link", { name: /ticket-1 in cli .*since/ }).waitFor();
  expect(await page.evaluate("notices")).toEqual(["Waiting for a person: ticket-1 in cli"]);
  await page.getByRole("link", { name: /ticket-1/ }).press("Enter");
  await page.getByRole("log").getByText("Hello Hello").first().waitFor();
  await page.getByText("A refund").waitFor();
  const isAtEnd = `(() => {
    const list = document.querySelector("[role=log]");
    return list.scrollHeight > list.clientHeight + 50 && list.scrollHeight - list.scrollTop - list.clientHeight < 2;
  })()`;
  await expect.poll(() => page.evaluate(isAtEnd), SOON).toBe(true);
  await page.getByRole("button", { name: "Take over" }).press("Enter");
  await page.getByLabel("Your answer").waitFor();
  // The answer's form takes a part of the list's place.
  await expect.poll(() => page.evaluate(isAtEnd), SOON).toBe(true);
  await page.getByRole("link", { name: "Machine" }).press("Enter");
  await page.getByText("A person has the conversation").waitFor();
  await page.getByRole("link", { name: "Messages" }).press("Enter");
  await page.getByLabel("Your answer").fill("Here I am");
  await page.getByLabel("Your answer").press("Enter");
  await page.getByRole("article", { name: "local:" }).getByText("Here I am").waitFor();
  await page.getByText("Ready answers").press("Enter");
  await page.getByRole("button", { name: "One moment, please." }).press("Enter");
  await expect.poll(() => page.getByLabel("Your answer").inputValue(), SOON).toBe("One moment, please.");
  await page.locator(":focus").pressSequentially(" I look.");
  await page.getByLabel("Your answer").press("Enter");
  await page.getByRole("article", { name: "local:" }).getByText("One moment, please. I look.").waitFor();
  await page.getByText("Ready answers").press("Enter");
  expect(await accessibilityTroubles(page)).toEqual([]);
  await page.getByText("Ready answers").press("Enter");
  expect((await say("A person?")).lines).toMatchObject([{ type: "done", handledBy: "person" }]);
  await page.getByRole("log").getByText("A person?", { exact: true }).waitFor();

  // Elsewhere the operator hears that the visitor answers, and what they have begun to write stays.
  await page.evaluate("document.hasFocus = () => true");
  await page.getByLabel("Your answer").pressSequentially("Half a sent");
  await enter(page, "#/inbox");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "Inbox 1 new" }).count(), SOON).toBe(0);
  await page.evaluate("document.hasFocus = () => false");
  expect((await say("Hello?")).lines).toMatchObject([{ type: "done", handledBy: "person" }]);
  const row = page.getByRole("link", { name: /ticket-1/ });
  await row.getByText("1 unread").waitFor();
  await say("Are you there?");
  await row.getByText("2 unread").waitFor();
  await page.getByRole("link", { name: "Inbox 1 unread" }).waitFor();
  expect(await page.title()).toMatch(/^\(\d\) /);
  await expect
    .poll(() => page.evaluate("notices.at(-1)"), SOON)
    .toBe("The visitor answered you: ticket-1 in cli");
  await page.evaluate("document.hasFocus = () => true");
  await row.press("Enter");
  await page.getByRole("log").getByText("Are you there?").waitFor();
  await expect.poll(() => page.getByRole("link", { name: "Inbox 1 unread" }).count(), SOON).toBe(0);
  expect(await page.getByLabel("Your answer").inputValue()).toBe("Half a sent");
  await page.reload();
  await page.getByLabel("Your answer").waitFor();
  expect(await page.getByLabel("Your answer").inputValue()).toBe("Half a sent");
  await page.getByLabel("Your answer").fill("Yes, here");
  await page.getByLabel("Your answer").press("Enter");
  await page.getByRole("article", { name: "local:" }).getByText("Yes, here").waitFor();
  await page.reload();
  await page.getByLabel("Your answer").waitFor();
  expect(await page.getByLabel("Your answer").inputValue()).toBe("");

  await page.getByRole("button", { name: "Give back" }).first().press("Enter");
  await page.getByLabel("A note for the assistant").fill("All is well");
  await page.getByRole("dialog").getByRole("button", { name: "Give back" }).press("Enter");
  await page.getByRole("button", { name: "Take over" }).waitFor();
  await expect.poll(() => page.getByLabel("Your answer").count(), SOON).toBe(0);
  expect((await say("And now?")).lines.at(-1)).not.toHaveProperty("handledBy");
  expect(troubles).toEqual([]);
});
