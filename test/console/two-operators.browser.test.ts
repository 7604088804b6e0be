// For src/console/conversation/conversation.tsx, src/console/conversation/hand-off.ts, src/console/conversation/drafts.ts
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { addOperators } from "../http/operator-api/operators-service.ts";
import { cli } from "../http/service.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { launchBrowser, test } from "../widget/browser.ts";
import { accessibilityTroubles, enter } from "./operating.ts";
import { openStaffedShop } from "./staffed-shop.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

test("who takes a conversation from a colleague is asked, the colleague is told, and keeps what they wrote", async ({
  visit,
  expect,
  onTestFinished,
}) => {
  const store = await openEmbeddedStore({ dataDir: emptyFolder(), clock: systemClock });
  onTestFinished(() => store.close());
  const service = await startTestService({ store, channels: [{ ...cli, handoff: { enabled: true } }] });
  await addOperators(store);
  await service.directory.renew();
  await sendMessage(service.url, { threadId: "t", userId: "kim", text: "Hello" });
  const { items } = await store.channelThreads("cli", {
    limit: 1,
    after: null,
    sinceMs: 0,
    untilMs: Number.MAX_SAFE_INTEGER,
  });
  const uid = items[0]?.uid ?? "";
  const [one, other] = await Promise.all(
    ["admin", "agent"].map((name) => visit(browser, `${service.url}/console#key=op_${name}`)),
  );
  if (!one || !other) throw new Error("Nobody is there");
  for (const { page } of [one, other]) {
    await page.getByRole("link", { name: "Inbox", exact: true }).waitFor();
    await enter(page, `#/channels/cli/threads/${uid}`);
  }
  await one.page.getByRole("button", { name: "Take over" }).press("Enter");
  await one.page.getByLabel("Your answer").fill("I was just about to");

  await other.page.getByText("with a person").first().waitFor();
  await other.page.getByText("admin", { exact: true }).first().waitFor();
  await other.page.getByRole("button", { name: "Take over" }).press("Enter");
  const asked = other.page.getByRole("dialog", { name: "Take it from admin?" });
  await asked.getByRole("button", { name: "Leave it" }).press("Enter");
  expect(await other.page.getByLabel("Your answer").count()).toBe(0);
  await other.page.getByRole("button", { name: "Take over" }).press("Enter");
  expect(await accessibilityTroubles(other.page)).toEqual([]);
  await asked.getByRole("button", { name: "Take it over" }).press("Enter");
  await other.page.getByLabel("Your answer").waitFor();

  const line = one.page.getByText("agent has taken this conversation over from you.");
  await line.waitFor();
  expect(await one.page.getByLabel("Your answer").count()).toBe(0);
  await one.page.getByRole("button", { name: "Take over" }).press("Enter");
  await one.page.getByRole("dialog").getByRole("button", { name: "Take it over" }).press("Enter");
  await one.page.getByLabel("Your answer").waitFor();
  expect(await one.page.getByLabel("Your answer").inputValue()).toBe("I was just about to");
  expect(await line.count()).toBe(0);
  expect([...one.troubles, ...other.troubles]).toEqual([]);
});

test("who presses before the page knows that a colleague has the conversation does not take it unasked", async ({
  visit,
  expect,
}) => {
  const shop = await openStaffedShop();
  const visitor = await visit(browser, shop.page);
  await visitor.say("Hello");
  await visitor.log.getByText("You said: Hello").waitFor();
  const { items } = (await (await shop.ask("/channels/shop/threads")).json()) as { items: { id: string }[] };
  const id = items[0]?.id ?? "";
  const { page } = await visit(browser, await shop.hire({ name: "kim" }));
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  // Neither the facts nor the watch of the conversation come before the colleague has it.
  const blocked = [`**/threads/${id}`, `**/threads/${id}/watch*`];
  for (const url of blocked) await page.route(url, (route) => route.abort());
  await enter(page, `#/channels/shop/threads/${id}`);
  const takes = page.getByRole("button", { name: "Take over" });
  await takes.waitFor();
  await shop.ask(`/channels/shop/threads/${id}/take`, "POST", { epoch: 0 });
  await page.unroute(`**/threads/${id}`);
  await takes.press("Enter");
  await page.getByText("local has the conversation by now.").waitFor();
  const { handoff } = (await (await shop.ask(`/channels/shop/threads/${id}`)).json()) as { handoff: object };
  expect(handoff).toMatchObject({ with: "local" });
});
