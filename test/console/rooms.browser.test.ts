// For src/console/
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { say, usage } from "../support/servers/model-server.ts";
import { SOON, launchBrowser, test } from "../widget/browser.ts";
import { accessibilityTroubles, enter, strangersOf } from "./operating.ts";
import { enterShop, startShop } from "./shop-service.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

const SCRIPT = [[say("Here is **what** you asked for."), usage(100, 10)]];

const LOOKS = [1_400, 900, 390].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** Each look takes axe a second: in the short form a room is shown in two of them, another pair than the room before. */
function looksOf(room: number): typeof LOOKS {
  if (process.env["FAULTS"] === "full") return LOOKS;
  return [0, 3].map((by) => LOOKS[(room + by) % LOOKS.length]).filter((look) => look !== undefined);
}

test("every room is accessible at three widths, in the light and in the dark, and asks nobody else", async ({
  visit,
  expect,
}) => {
  const { service, store } = await startShop(SCRIPT);
  await store.blockIp("192.0.2.0/24");
  await service.directory.renew();
  const shop = await enterShop(service.url, "cart");
  await shop.say("What is new?");
  const comment = "Too short, and **not** what I asked";
  const rated = await fetch(`${service.url}/v1/widget/threads/${shop.threadId}/feedback`, {
    method: "POST",
    headers: {
      origin: "https://shop.example",
      "content-type": "application/json",
      "x-visitor-token": shop.visitorToken,
    },
    body: JSON.stringify({ messageId: "2", rating: "down", comment }),
  });
  expect(rated.status).toBe(204);
  const { items } = await store.usersPage("shop", { limit: 1, after: null, order: "newest first" });
  const userId = items[0]?.user.userId ?? "";
  const [thread] = await store.threads("shop", userId);

  const { page, troubles } = await visit(browser, `${service.url}/console`, { reducedMotion: "reduce" });
  const strangers = strangersOf(page, service.url);
  expect(await accessibilityTroubles(page)).toEqual([]);
  await page.goto(`${service.url}/console#key=op_admin`);
  // The page takes the key, and loads itself anew.
  await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
  const rooms: [place: string, name: string, shows: string][] = [
    ["#/", "Overview", "heading=Overview"],
    ["#/inbox", "Inbox", "heading=Inbox"],
    ["#/channels/shop/users", "Users", "list=Users of shop"],
    [`#/channels/shop/users/${userId}`, "Anonymous", "heading=Conversations"],
    [`#/channels/shop/threads/${thread?.uid}`, "Visitor", "log=Messages"],
    [`#/channels/shop/threads/${thread?.uid}?part=machine`, "Visitor", "list=Events of the run"],
    ["#/channels", "Channels", "list=Channels"],
    ["#/channels/shop", "shop", "form=Settings"],
    ["#/channels/shop/webhooks", "Webhooks", "heading=Webhooks"],
    ["#/new-channel", "New channel", "button=Make the channel"],
    ["#/addresses", "Addresses", "list=Blocked addresses"],
    ["#/operators", "Operators", "list=Operators"],
    ["#/audit", "Audit", "heading=Audit"],
  ];
  const found: string[] = [];
  for (const [at, [place, name, shows]] of rooms.entries()) {
    await enter(page, place);
    await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
    const [role, text] = shows.split("=") as [Parameters<Page["getByRole"]>[0], string];
    await page.getByRole(role, { name: text }).first().waitFor();
    if (shows === "log=Messages") {
      const reply = page.getByRole("article", { name: "Assistant:" });
      await reply.getByText(comment, { exact: false }).waitFor();
      await reply.getByText("thumbs down").waitFor();
    }
    for (const { width, colorScheme } of looksOf(at)) {
      await page.setViewportSize({ width, height: 844 });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const wrong = await accessibilityTroubles(page);
      found.push(...wrong.map((one) => `${place} ${width} ${colorScheme} ${one}`));
      const beyond = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      if (Number(beyond) > 0) found.push(`${place} ${width} is wider than the window by ${String(beyond)}`);
    }
  }
  expect(found).toEqual([]);
  expect(strangers).toEqual([]);
  expect(troubles).toEqual([]);
});

test("ten thousand users are scrolled through by keys, with a screenful of rows", async ({
  visit,
  expect,
}) => {
  const { service } = await startShop();
  const { page, troubles } = await visit(browser, `${service.url}/console#key=op_admin`);
  const [all, atOnce] = [10_000, 1_000];
  await page.route("**/v1/operator/channels/shop/users?*", (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
    const items = Array.from({ length: atOnce }, (_, at) => ({
      userId: `user-${from + at + 1}`,
      externalUserId: null,
      displayName: `Number ${from + at + 1}`,
      blocked: false,
      whitelisted: false,
    }));
    return route.fulfill({ json: { items, next: from + atOnce < all ? String(from + atOnce) : null } });
  });
  await enter(page, "#/channels/shop/users");
  const first = page.getByRole("link", { name: "Number 1 user-1" });
  await first.waitFor();
  await first.focus();
  for (let loaded = atOnce; loaded <= all; loaded += atOnce) {
    await page.keyboard.press("End");
    await page.locator(`li[data-index="${loaded - 1}"] a:focus`).waitFor();
    if (loaded < all) await page.getByText(`${(loaded + atOnce).toLocaleString("en-GB")} `).waitFor();
  }
  await page.getByText("10,000 in all").waitFor();
  expect(await page.getByRole("listitem").count()).toBeLessThan(60);
  const box = page.locator(".scroller");
  const heightOf = () => box.evaluate((element) => element.scrollHeight);
  const height = await heightOf();
  await page.keyboard.press("Home");
  await page.locator('li[data-index="0"] a:focus').waitFor();
  expect(await heightOf()).toBe(height);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url(), SOON).toContain("/users/user-2");
  await page.goBack();
  await first.waitFor();
  expect(troubles).toEqual([]);
});
