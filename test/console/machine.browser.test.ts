// For src/console/machine/, src/operators/threads/machine-view.ts
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { CHARTS } from "../../machines/charts.ts";
import { codeOf } from "../../machines/draw/code.ts";
import { call, hold, say, usage } from "../support/servers/model-server.ts";
import { SOON, launchBrowser, test } from "../widget/browser.ts";
import { accessibilityTroubles, enter, strangersOf } from "./operating.ts";
import { callIdOf, enterShop, startShop } from "./shop-service.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

const SCRIPT = [
  [say("Let me look. "), call("cart", { item: "tea", _progress: "Looking into the cart" }), usage(120, 18)],
  [say("There is tea in your cart, "), hold(), say("two of it."), usage(210, 12)],
];

const lit = (page: Page, name: string) =>
  page.locator(`.chart .${name}`).evaluateAll((elements) => elements.map((element) => element.id));

/** The size of the chart's smallest text, and how much of the chart is beyond its place, in CSS pixels. */
const measured = (page: Page) =>
  page.evaluate<{ smallest: number; beyond: number; pageBeyond: number }>(`(() => {
    const chart = document.querySelector(".chart");
    const scale = chart.querySelector("svg").getScreenCTM().a;
    const sizes = [...chart.querySelectorAll("text")].map((text) => parseFloat(getComputedStyle(text).fontSize));
    return {
      smallest: Math.min(...sizes) * scale,
      beyond: chart.scrollWidth - chart.clientWidth,
      pageBeyond: document.documentElement.scrollWidth - innerWidth,
    };
  })()`);

test("a thread's machine is one click from the link, is watched to its run's end, and stepped through again", async ({
  visit,
  expect,
}) => {
  const { service, server } = await startShop(SCRIPT);
  const shop = await enterShop(service.url, "cart");
  const callId = callIdOf(await shop.say("What is in my cart?"));
  const { page, troubles } = await visit(browser, `${service.url}/console#key=op_admin`);
  const strangers = strangersOf(page, service.url);
  await page.getByRole("region", { name: "Machines" }).getByRole("link").press("Enter");

  const doing = page.locator(".doing");
  await doing.getByText("the visitor's page is to answer a tool call").waitFor();
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.awaitingPageTool"]);
  await page.getByText("To answer", { exact: true }).waitFor();
  const answered = shop.answer(callId, "two teas");
  await server.held();
  await doing.getByText("A run is active: the model is asked.").waitFor();
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.running", "thread.running.thinking"]);
  await page.getByText("The lines of its stream").press("Enter");
  const lines = page.getByRole("list", { name: "Lines of the stream" });
  await lines.getByText("There is tea in your cart,").waitFor();
  server.release();
  await answered;
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.idle"]);
  await lines.getByText("two of it.").waitFor();
  expect(await lit(page, "taken")).toEqual(["thread.running.thinking/agent.finished/0"]);
  const events = page.getByRole("list", { name: "Events of the run" }).getByRole("listitem");
  expect(await events.last().locator("span").allInnerTexts()).toEqual([
    expect.stringMatching(/^\d+(?:\.\d)? m?s$/),
    "agent.finished",
    "running.thinking → idle",
    "done",
    "keepReply",
  ]);

  await page.locator("body").press("ArrowLeft");
  await page.locator("body").press("ArrowLeft");
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.awaitingPageTool"]);
  expect(new Set(await lit(page, "taken"))).toEqual(
    new Set(["thread.running.thinking/agent.called/0", "thread.running.choosing/at once/5"]),
  );
  await doing.getByText("Then").waitFor();
  await doing.getByText("the visitor's page is to answer a tool call").waitFor();
  await page.getByRole("button", { name: "Live" }).press("Enter");
  await expect.poll(() => lit(page, "now"), SOON).toEqual(["thread.idle"]);
  expect(strangers).toEqual([]);
  expect(troubles).toEqual([]);
});

test("the chart can be read and reached at every width, in the light and in the dark", async ({
  visit,
  expect,
}) => {
  const { service } = await startShop(["Good day"]);
  const shop = await enterShop(service.url, "cart");
  await shop.say("Hello");
  const { page, troubles } = await visit(browser, `${service.url}/console#key=op_admin`);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await enter(page, `#/channels/shop/threads/${shop.threadId}?part=machine`);
  await page.locator(".chart .node.now").waitFor();
  await page.getByText("The lines of its stream").press("Enter");
  for (const [width, colorScheme] of [
    [1_400, "light"],
    [390, "dark"],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { smallest, beyond, pageBeyond } = await measured(page);
    expect(smallest).toBeGreaterThanOrEqual(12);
    expect(beyond).toBeGreaterThan(0);
    expect(pageBeyond).toBe(0);
    expect(await accessibilityTroubles(page)).toEqual([]);
  }
  await page.setViewportSize({ width: 1_400, height: 844 });
  await page.getByRole("button", { name: "The whole chart" }).press("Enter");
  await expect.poll(async () => (await measured(page)).beyond, SOON).toBe(0);
  expect(troubles).toEqual([]);
});

test("the chart's code is copied for Stately's editor", async ({ visit, expect }) => {
  const { service } = await startShop(["Good day"]);
  const shop = await enterShop(service.url, "cart");
  await shop.say("Hello");
  const { page } = await visit(browser, `${service.url}/console#key=op_admin`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  await enter(page, `#/channels/shop/threads/${shop.threadId}?part=machine`);
  await page.getByRole("button", { name: "Copy for Stately's editor" }).press("Enter");
  await page.getByText("Copied. In the editor").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(codeOf(CHARTS.thread));
});

test("an auditor is offered no machine, and is shown none by its address", async ({ visit, expect }) => {
  const { service } = await startShop(["Good day"]);
  const shop = await enterShop(service.url, "cart");
  await shop.say("Hello");
  const { page } = await visit(browser, `${service.url}/console#key=op_auditor`);
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  expect(await page.getByRole("region", { name: "Machines" }).count()).toBe(0);
  await enter(page, `#/channels/shop/threads/${shop.threadId}?part=machine`);
  await page.getByText("not what was said in it").waitFor();
  expect(await page.getByRole("link", { name: "Machine" }).count()).toBe(0);
  expect(await page.locator(".chart").count()).toBe(0);
});
