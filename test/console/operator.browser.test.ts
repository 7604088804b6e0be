// For src/console/inbox/, src/console/conversation/, src/console/users/, src/console/channels/, src/console/shell/
import type { Page, Route } from "playwright-core";
import { expect } from "vitest";
import { sendMessage } from "../support/servers/service.ts";
import { SOON, test } from "../widget/browser.ts";
import { openOperated, strangersOf, untilLive } from "./operating.ts";

const operated = openOperated();

/** Again when the second key came too late after the first, on a machine that is busy. */
async function goByKeys(page: Page, letter: string, place: string): Promise<void> {
  await expect
    .poll(async () => {
      await page.locator("body").press("g");
      await page.locator("body").press(letter);
      return new URL(page.url()).hash;
    }, SOON)
    .toBe(place);
}

const RUDE = "You are a fool, and so is your shop";

test("a new operator finds a conversation, blocks its user, and adds a colleague who cannot read it", async ({
  visit,
  expect,
}) => {
  const { browser, url, keys } = operated;
  const { harnessApiKey, localOperator } = keys;
  const say = (text: string) =>
    sendMessage(url, { threadId: "ticket-1", userId: "account-7", text }, harnessApiKey);
  expect((await say(RUDE)).status).toBe(200);

  const { page, troubles } = await visit(browser, `${url}/console#key=${localOperator}`);
  const strangers = strangersOf(page, url);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(page.url()).toBe(`${url}/console`);
  expect(await page.content()).not.toContain(localOperator);

  // A conversation, by a user's id, with the keyboard alone.
  await page.locator("body").press("/");
  await page.getByLabel("ID of a user or a conversation").pressSequentially("account-7");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "account-7" }).waitFor();
  await page.getByRole("link", { name: /ticket-1/ }).press("Enter");
  await page.getByRole("log").getByText(RUDE, { exact: true }).waitFor();
  expect(await page.getByText(RUDE, { exact: true }).count()).toBe(1);
  const place = new URL(page.url()).hash;

  // What is said meanwhile comes by itself, once.
  await untilLive(page);
  expect((await say("Are you there?")).status).toBe(200);
  await page.getByRole("log").getByText("Are you there?", { exact: true }).waitFor();
  await expect.poll(() => page.getByRole("article").count(), SOON).toBe(4);

  await page.getByRole("button", { name: "Block the user" }).press("Enter");
  await page.getByRole("button", { name: "Unblock the user" }).waitFor();
  expect((await say("Still here")).status).toBe(403);

  // A channel's instructions.
  await goByKeys(page, "c", "#/channels");
  await page.getByRole("list", { name: "Channels" }).getByRole("link", { name: /^cli/ }).press("Enter");
  await page.getByLabel("Instructions").fill("You help with tickets.");
  await page.getByRole("button", { name: "Save" }).press("Enter");
  await page.getByText("cli is changed").waitFor();
  const ask = (path: string, key = localOperator) =>
    fetch(`${url}/v1/operator${path}`, { headers: { authorization: `Bearer ${key}` } });
  expect(await (await ask("/channels/cli")).json()).toMatchObject({
    agent: { instructions: "You help with tickets." },
  });

  // A colleague who reads no text.
  await goByKeys(page, "p", "#/operators");
  await page.getByRole("button", { name: "Add an operator" }).press("Enter");
  await page.getByLabel("Name", { exact: true }).fill("kim");
  await page.getByLabel("Role").selectOption("auditor");
  await page.getByRole("button", { name: "Add", exact: true }).press("Enter");
  const key = await page.locator("dialog code").innerText();
  expect(key).toMatch(/^op_/);
  await page.getByRole("button", { name: "I have it" }).press("Enter");
  await page.getByText("auditor, every channel").waitFor();

  const kim = await visit(browser, `${url}/console`);
  await kim.page.getByLabel("Your operator key").fill(key);
  await kim.page.getByRole("button", { name: "Sign in" }).press("Enter");
  await kim.page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(await kim.page.getByRole("navigation").innerText()).not.toContain("Operators");
  await kim.page.goto(`${url}/console${place}`);
  await kim.page.getByText("not what was said in it").waitFor();
  expect(await kim.page.content()).not.toContain(RUDE);
  const id = place.split("/").at(-1) ?? "";
  const paths = ["messages", "runs", "watch"].map((end) => `/channels/cli/threads/${id}/${end}`);
  for (const path of paths) expect([path, (await ask(path, key)).status]).toEqual([path, 403]);
  for (const path of [
    "/channels/cli/users",
    "/channels/cli/threads",
    `/channels/cli/threads/${id}`,
    "/audit",
  ])
    expect(await (await ask(path, key)).text()).not.toContain(RUDE);

  // All of it is in the audit.
  await goByKeys(page, "a", "#/audit");
  const entries = page.getByRole("list", { name: "Audit, newest first" });
  for (const action of ["added an operator", "changed a channel", "blocked a user", "read a conversation"])
    await entries.getByText(action).first().waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: "Operators" }).waitFor();
  expect(strangers).toEqual([]);
  expect([...troubles, ...kim.troubles]).toEqual([]);
});

test("who looks for an id before the channels are there finds it", async ({ visit, expect }) => {
  const { browser, url, keys } = operated;
  const { harnessApiKey, localOperator } = keys;
  const said = { threadId: "ticket-2", userId: "account-8", text: "Anybody here?" };
  expect((await sendMessage(url, said, harnessApiKey)).status).toBe(200);
  const { page } = await visit(browser, `${url}/console`);
  const held: Route[] = [];
  await page.route(/\/v1\/operator\/channels\?/, (route) => void held.push(route));
  await page.getByLabel("Your operator key").fill(localOperator);
  await page.getByRole("button", { name: "Sign in" }).press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.locator("body").press("/");
  await page.getByLabel("ID of a user or a conversation").fill("account-8");
  await page.keyboard.press("Enter");
  await expect.poll(() => held.length, SOON).toBe(2);
  expect(await page.getByRole("dialog").getByRole("status").innerText()).toBe("");
  await Promise.all(held.map((route) => route.continue()));
  await page.getByRole("heading", { name: "account-8" }).waitFor();
});

test("a key that is none brings the form back, with a word why; what is shown stays behind", async ({
  visit,
  expect,
}) => {
  const { browser, url, keys } = operated;
  const { page } = await visit(browser, `${url}/console#key=op_wrong`);
  await page.getByText("This key is not valid").waitFor();
  expect(page.url()).toBe(`${url}/console`);
  await page.getByLabel("Your operator key").fill(keys.localOperator);
  await page.getByRole("button", { name: "Sign in" }).press("Enter");
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).press("Enter");
  await page.getByLabel("Your operator key").waitFor();
  expect(await page.evaluate("sessionStorage.getItem('operator-key')")).toBeNull();
});
