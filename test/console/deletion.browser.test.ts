// For src/console/users/, src/console/conversation/delete-conversation.tsx, src/console/parts/dialog.tsx
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { addOperators } from "../http/operator-api/operators-service.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { systemClock } from "../../src/clock.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { SOON, launchBrowser, test } from "../widget/browser.ts";
import { accessibilityTroubles, untilLive } from "./operating.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

/** `account-7` has said something in two threads. */
async function startWithUser(onTestFinished: (done: () => Promise<void>) => void) {
  const store = await openEmbeddedStore({ dataDir: emptyFolder(), clock: systemClock });
  onTestFinished(() => store.close());
  const service = await startTestService({ store });
  await addOperators(store);
  await service.directory.renew();
  const owner = { userId: "account-7", text: "Where is my order?" };
  for (const threadId of ["ticket-1", "ticket-2"]) await sendMessage(service.url, { ...owner, threadId });
  return { ...service, users: `${service.url}/console#/channels/cli/users/account-7` };
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("Your operator key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).press("Enter");
}

test("an admin saves what is kept of a user as a file, then deletes a conversation and the user", async ({
  visit,
  expect,
  onTestFinished,
}) => {
  const { users } = await startWithUser(onTestFinished);
  const { page, troubles } = await visit(browser, users);
  await signIn(page, "op_admin");
  await page.getByRole("heading", { name: "account-7" }).waitFor();

  // A file dialog of the browser is nothing that a test can answer: this is what others do.
  await page.evaluate("delete globalThis.showSaveFilePicker");
  const coming = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).press("Enter");
  const file = await coming;
  await page.getByText("The export is saved").waitFor();
  expect(file.suggestedFilename()).toMatch(/^cli-.*\.ndjson$/);
  const lines = readFileSync(await file.path(), "utf8")
    .trimEnd()
    .split("\n");
  const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toEqual(["user", ...Array(2).fill(["thread", "message", "message", "run"]).flat()]);

  // A conversation: left twice, with the focus where it was; then deleted.
  await page.getByRole("link", { name: /ticket-1/ }).press("Enter");
  await page.getByRole("log").getByText("Where is my order?", { exact: true }).waitFor();
  const remove = page.getByRole("button", { name: "Delete the conversation" });
  const dialog = page.getByRole("dialog");
  for (const leaving of ["Escape", "Enter"]) {
    await remove.press("Enter");
    await dialog.getByText("2 messages with account-7").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Leave it");
    await page.keyboard.press(leaving);
    await expect
      .poll(() => page.evaluate("document.activeElement.textContent"), SOON)
      .toBe("Delete the conversation");
  }
  await remove.press("Enter");
  await dialog.getByRole("button", { name: "Delete it" }).press("Enter");
  await page.getByText("The conversation is deleted").waitFor();
  await page.getByRole("heading", { name: "Conversations" }).waitFor();
  await page.getByRole("link", { name: /ticket-2/ }).waitFor();
  expect(await page.getByRole("link", { name: /ticket-1/ }).count()).toBe(0);

  // The user, whose page is where going back comes to.
  await page.goBack();
  await page.getByRole("heading", { name: "account-7" }).waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  await dialog.getByText("1 conversation with 2 messages").waitFor();
  expect(await accessibilityTroubles(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Delete the user" }).press("Enter");
  await page.getByText("account-7 is deleted").waitFor();
  await page.getByText("No visitors yet.").waitFor();
  expect(troubles).toEqual([]);
});

test("a dialog that is asked for as another closes stays open", async ({ visit, expect, onTestFinished }) => {
  const { users } = await startWithUser(onTestFinished);
  const { page } = await visit(browser, users);
  await signIn(page, "op_admin");
  await page.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  await page.getByRole("dialog").waitFor();
  // As Escape closes, and the next key comes before the browser has told of it.
  await page.evaluate(`(async () => {
    const dialog = document.querySelector("dialog");
    const told = new Promise((resolve) => dialog.addEventListener("close", () => setTimeout(resolve)));
    dialog.requestClose();
    await null;
    document.activeElement.click();
    await told;
  })()`);
  await page.getByRole("dialog").getByRole("button", { name: "Delete the user" }).waitFor();
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Leave it");
});

test("an export goes to the chosen file as it comes, and one that breaks off leaves none", async ({
  visit,
  expect,
  onTestFinished,
}) => {
  const { users } = await startWithUser(onTestFinished);
  const { page } = await visit(browser, users);
  await signIn(page, "op_admin");
  await page.getByRole("heading", { name: "account-7" }).waitFor();
  await page.evaluate(
    "globalThis.showSaveFilePicker = async () => (await navigator.storage.getDirectory()).getFileHandle('export', { create: true })",
  );
  const kept = () =>
    page.evaluate<string>(
      "(async () => (await (await (await navigator.storage.getDirectory()).getFileHandle('export')).getFile()).text())()",
    );
  await page.route("**/export", (route) => route.fulfill({ body: '{"type":"user"}\n{"type":"thr' }));
  const save = page.getByRole("button", { name: "Export" });
  await save.press("Enter");
  await page.getByText("The export broke off").waitFor();
  expect(await kept()).toBe("");
  await page.unroute("**/export");
  await save.press("Enter");
  await page.getByText("The export is saved").waitFor();
  expect((await kept()).trimEnd().split("\n")).toHaveLength(9);
});

test("who watches a conversation is told that it was deleted; an agent is offered no deletion", async ({
  visit,
  expect,
  onTestFinished,
}) => {
  const { url, users } = await startWithUser(onTestFinished);
  const { page, troubles } = await visit(browser, users);
  await signIn(page, "op_agent");
  await page.getByRole("link", { name: /ticket-2/ }).press("Enter");
  await untilLive(page);
  expect(await page.getByRole("button", { name: /Delete/ }).count()).toBe(0);
  const id = new URL(page.url()).hash.split("/").at(-1) ?? "";
  const deleted = await fetch(`${url}/v1/operator/channels/cli/threads/${id}`, {
    method: "DELETE",
    headers: { authorization: "Bearer op_admin" },
  });
  expect(deleted.status).toBe(202);
  await page.getByText("This conversation was deleted.").waitFor();
  expect(troubles).toEqual([]);
  await page.getByRole("link", { name: "To the conversations of cli" }).press("Enter");
  await page.getByRole("link", { name: /ticket-1/ }).waitFor();
  expect(await page.getByRole("link", { name: /ticket-2/ }).count()).toBe(0);
});
