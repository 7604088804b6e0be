// For src/demo/shop/, src/demo/page.ts, src/demo/products.ts, src/demo/shop-html.ts
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { keysOf } from "../console/operating.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { openServiceProcess } from "../support/servers/service-process.ts";
import type { ServiceProcess } from "../support/servers/service-process.ts";
import { launchBrowser, SOON, test } from "../widget/browser.ts";
import { paint } from "../widget/page/pictures.ts";

let browser: Browser;
let running: ServiceProcess;
const dataDir = emptyFolder();

beforeAll(async () => {
  [browser, running] = await Promise.all([
    launchBrowser({ webMcp: false }),
    openServiceProcess({ DATA_DIR: dataDir }),
  ]);
});

afterAll(async () => {
  await browser.close();
  await running.close();
});

/** Tells every state that the panel marks as the present one, on this page and on those that follow. */
const NOTE_STATES = `{
  const tell = () => document.querySelectorAll("[aria-current]").forEach((node) => note(node.dataset.state));
  new MutationObserver(tell).observe(document, { subtree: true, childList: true, attributeFilter: ["aria-current"] });
  tell();
}`;

/** Past this the machine is stuck: five tools, three navigations. */
const WHOLE_RUN = { timeout: 90_000 };

describe.concurrent("the demo shop, on an origin of its own", () => {
  test("is bought from by saying so: five page tools, across navigations, to the checkout", async ({
    expect,
    visit,
  }) => {
    const at = await visit(browser, running.demoUrl);
    const seen = new Set<string>();
    await at.page.exposeFunction("note", (state: string) => seen.add(state));
    await at.page.addInitScript(NOTE_STATES);
    await at.page.evaluate(NOTE_STATES);
    await at.say("Buy a red mug and check out");
    await at.page.waitForURL("**/checkout", WHOLE_RUN);
    await expect.poll(() => at.log.locator(".step.done").count(), WHOLE_RUN).toBe(5);
    await expect.poll(() => at.tell("agent.state"), WHOLE_RUN).toBe("idle");
    expect(await at.page.locator("[data-cart]").textContent()).toContain("1 × Red mug");
    expect(await at.page.locator("[data-shown-address]").textContent()).toContain("Berlin");
    // One run, one reply, though three pages had a part in it.
    expect(await at.log.locator(".assistant").count()).toBe(1);
    // The panel names the chart's own states, and a page tool's step is no server's.
    const states = await at.page.locator("[data-state]").allTextContents();
    expect(states).toEqual([
      "idle",
      "running.thinking",
      "running.usingServerTool",
      "awaitingPageTool",
      "waiting_for_person",
      "with_person",
    ]);
    expect(seen).toEqual(new Set(["idle", "running.thinking", "awaitingPageTool"]));
    expect(await at.page.locator("[data-state=idle]").getAttribute("aria-current")).toBe("true");
    await expect.poll(() => at.page.locator("[data-lines] .done").count(), SOON).toBe(1);
    const calls = await at.page.locator("[data-lines] .tool_call").allTextContents();
    // A page that re-attaches reads the pending call once more.
    expect(new Set(calls).size).toBe(5);
    expect(at.troubles).toEqual([]);

    await at.page.getByRole("button", { name: "Place the order" }).click();
    await at.page.getByText("Thank you.").waitFor();
    await at.log.getByText("Buy a red mug and check out").waitFor();
    expect(await at.page.locator("[data-cart-count]").textContent()).toBe("");
  });

  test("signs in: the conversation follows the account into another browser", async ({ expect, visit }) => {
    const at = await visit(browser, running.demoUrl);
    const seen = new Set<string>();
    await at.page.exposeFunction("note", (state: string) => seen.add(state));
    await at.page.evaluate(NOTE_STATES);
    await at.say("Where is my order 1001?");
    await at.log.getByText("shipped yesterday").waitFor();
    expect(seen).toContain("running.usingServerTool");
    const signedIn = at.page.waitForResponse("**/demo/sign-in");
    await at.page.getByRole("button", { name: "Sign in" }).click();
    expect(await (await signedIn).json()).toEqual({ name: "Ada", merged: false });
    await at.page.getByRole("button", { name: "Ada · Sign out" }).waitFor();
    await at.log.getByText("shipped yesterday").waitFor();

    const other = await visit(browser, running.demoUrl);
    await other.say("Hello");
    await expect.poll(() => other.tell("agent.state"), SOON).toBe("idle");
    const merged = other.page.waitForResponse("**/demo/sign-in");
    await other.page.getByRole("button", { name: "Sign in" }).click();
    expect(await (await merged).json()).toEqual({ name: "Ada", merged: true });
    await other.say("Find a candle");
    await other.log.getByText("candle costs").waitFor();

    // The secret key is the shop's server's alone.
    for (const path of ["/", "/shop.js"])
      expect(await (await fetch(running.demoUrl + path)).text()).not.toContain("sk_");
    const stranger = await fetch(`${running.demoUrl}/demo/sign-in`, { method: "POST", body: "{}" });
    expect(stranger.status).toBe(422);

    await at.page.getByRole("button", { name: "Ada · Sign out" }).click();
    await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(0);
  });

  test("is shown a picture in the chat, says what it is, and shows it after a reload", async ({
    expect,
    visit,
  }) => {
    const at = await visit(browser, running.demoUrl);
    await at.agent.locator(".launcher").click();
    await at.agent.getByRole("button", { name: "Add files" }).waitFor();
    const picture = await paint(at.page, "meadow.png", { width: 60, height: 40 });
    await at.agent.locator("input[type=file]").setInputFiles([picture]);
    await at.agent.locator(".draft img").waitFor();
    await at.say("What is this?");
    await at.log.getByText("PNG, 60 × 40").waitFor();
    await at.page.reload();
    const shown = at.log.getByRole("button", { name: "meadow.png" }).locator("img");
    await expect
      .poll(() => shown.evaluate((image: { naturalWidth: number }) => image.naturalWidth), SOON)
      .toBe(60);
    expect(at.troubles).toEqual([]);
  });

  test("calls a person who is asked for, and shows what they answer", async ({ expect, visit }) => {
    const at = await visit(browser, running.demoUrl);
    const bar = at.agent.locator(".person [role=status]");
    await at.say("I want to talk to a person");
    await bar.getByText("Waiting for a person…").waitFor();
    await at.log.getByText("I am handing you over to a person").waitFor();
    const threads = `${running.url}/v1/operator/channels/demo/threads`;
    const headers = {
      authorization: `Bearer ${keysOf(dataDir).localOperator}`,
      "content-type": "application/json",
    };
    const waiting = await fetch(`${threads}?state=waiting_for_person`, { headers });
    const { items } = (await waiting.json()) as { items: { id: string }[] };
    const act = async (what: string, body: object) => {
      const answer = await fetch(`${threads}/${items[0]?.id}/${what}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      expect(answer.ok).toBe(true);
    };
    await act("take", { epoch: 1 });
    await bar.getByText("local answers you here.").waitFor();
    await at.page.locator("[data-state=with_person][aria-current]").waitFor();
    await act("messages", { epoch: 2, text: "Here I am" });
    await at.log.getByText("Here I am").waitFor();
    await act("return", { epoch: 2 });
    await bar.getByText("The assistant answers again.").waitFor();
    await at.page.locator("[data-state=idle][aria-current]").waitFor();
    await at.say("Find a candle");
    await at.log.getByText("candle costs").waitFor();
    expect(at.troubles).toEqual([]);
  });

  test("shows the reply that a reload interrupted, and goes on", async ({ expect, visit }) => {
    const at = await visit(browser, running.demoUrl);
    await at.say("The quick brown fox jumps over the lazy dog, and again the quick brown fox");
    await at.log.locator(".text").waitFor();
    await at.page.reload();
    await at.log.getByText("submit address.").waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    expect(await at.log.locator(".user").count()).toBe(1);
    expect(await at.log.locator(".assistant").count()).toBe(1);
    await at.say("Find a watering can");
    await at.log.getByText("watering can costs").waitFor();
  });
});
