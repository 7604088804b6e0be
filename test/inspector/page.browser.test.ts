import axe from "axe-core";
import { afterAll, beforeAll } from "vitest";
import type { Browser, Page } from "playwright-core";
import { SOON, launchBrowser, test } from "../widget/browser.ts";
import { call, hold, say, usage } from "../support/model-server.ts";
import { callIdOf, enterShop, startInspected } from "./inspected.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

const SCRIPT = [
  [say("Let me look. "), call("cart", { item: "tea", _progress: "Looking into the cart" }), usage(120, 18)],
  [say("There is tea in your cart, "), hold(), say("two of it."), usage(210, 12)],
];

async function choose(page: Page, label: string, at = 1): Promise<void> {
  const select = page.getByLabel(label, { exact: true });
  await select.locator("option").nth(at).waitFor({ state: "attached" });
  await select.selectOption({ index: at });
}

/** What axe finds wrong: rule and element. */
async function accessibilityTroubles(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
    "axe.run()",
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

const lit = (page: Page, name: string) =>
  page.locator(`.chart .${name}`).evaluateAll((elements) => elements.map((element) => element.id));

test("a thread is watched from a pending call to its end, and stepped through again", async ({
  visit,
  expect,
}) => {
  const { service, server, link, key } = await startInspected(SCRIPT);
  const shop = await enterShop(service.url, "cart");
  const callId = callIdOf(await shop.say("What is in my cart?"));

  const { page, troubles } = await visit(browser, link);
  expect(page.url()).toBe(`${service.url}/machines`);
  await page.getByLabel("Channel", { exact: true }).locator("option").nth(2).waitFor({ state: "attached" });
  await page.getByLabel("Channel", { exact: true }).selectOption("shop");
  await choose(page, "User");
  await choose(page, "Thread");
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.awaitingPageTool"]);

  const answered = shop.answer(callId, "two teas");
  await server.held();
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.running", "thread.running.thinking"]);
  await expect.poll(() => page.locator(".talk").innerText(), SOON).toContain("There is tea in your cart,");
  server.release();
  await answered;
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.idle"]);
  await expect.poll(() => page.locator(".talk").innerText(), SOON).toContain("two of it.");
  expect(await lit(page, "taken")).toEqual(["thread.running.thinking/agent.finished/0"]);

  await page.locator("body").press("ArrowLeft");
  await page.locator("body").press("ArrowLeft");
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.awaitingPageTool"]);
  expect(new Set(await lit(page, "taken"))).toEqual(
    new Set(["thread.running.thinking/agent.called/0", "thread.running.choosing/at once/3"]),
  );
  expect(await page.getByRole("status").innerText()).toBe("Replay");
  await page.getByRole("button", { name: "Live" }).press("Enter");
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.idle"]);

  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    expect(await accessibilityTroubles(page)).toEqual([]);
  }
  expect(troubles).toEqual([]);
  expect(await page.content()).not.toContain(key);
  expect(service.logged.join("")).not.toContain(key);
});

test("without its key, or with another, the page shows nothing and says where the link is", async ({
  visit,
  expect,
}) => {
  const { service } = await startInspected();
  for (const [url, reason] of [
    [`${service.url}/machines`, "This page needs its key."],
    [`${service.url}/machines#key=ik_wrong`, "This key is not the service's."],
  ] as const) {
    const { page } = await visit(browser, url);
    await page.getByText(reason).waitFor();
    expect(await page.locator("select").count()).toBe(0);
  }
});
