// For src/widget/run/, src/widget/
import type { Route } from "playwright-core";
import { describe } from "vitest";
import { SOON, test, visitOf } from "../browser.ts";
import { startPageServer } from "../page/page-server.ts";
import { called, call, gate, reply, startScriptedService } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

/** What this visitor asked of the service. */
function askedBy(token: string | null): string[] {
  return stage.service.asked
    .filter((one) => one.token === token)
    .map(({ method, path }) => `${method} ${path}`);
}

describe.concurrent("a conversation in <chat-agent>", () => {
  test("shows a gzipped reply as it streams, and the strictest page has nothing to object to", async ({
    expect,
    visit,
  }) => {
    const words = reply("**Bold** first, then [a link](https://example.com/a?b=1&amp;c=2) and `code`.");
    const rest = gate();
    stage.service.scripts.set("hello stream", [[...words.slice(0, 2), rest, ...words.slice(2)]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("hello stream");
    await at.log.getByText("first").waitFor();
    expect(await at.tell("agent.state")).toBe("streaming");
    rest.open();
    const link = at.agent.getByRole("link", { name: "a link" });
    await link.waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    expect(await link.getAttribute("href")).toBe("https://example.com/a?b=1&c=2");
    expect(await at.log.locator("strong").textContent()).toBe("Bold");
    expect(at.troubles).toEqual([]);
  });

  test("sends with an Enter that comes before the text was drawn", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.agent.locator(".launcher").click();
    await at.composer.evaluate((node) => {
      const { InputEvent, KeyboardEvent } = globalThis as unknown as Record<
        "InputEvent" | "KeyboardEvent",
        new (type: string, init: object) => Event
      >;
      Object.assign(node, { value: "fast fingers" });
      node.dispatchEvent(new InputEvent("input", { bubbles: true }));
      node.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
    });
    await at.log.getByText("You said: fast fingers").waitFor();
    expect(await at.composer.inputValue()).toBe("");
  });

  test("asks nothing of the service before the first message", async ({ expect, visit }) => {
    const before = await visit(stage.browser, `${stage.site.url}/`);
    const requests: string[] = [];
    before.page.on("request", (request) => requests.push(request.url()));
    await before.agent.locator(".launcher").click();
    await before.composer.waitFor();
    await before.page.waitForLoadState("networkidle");
    const asked = () => requests.filter((url) => /\/v1\/widget(?!\/channel)/.test(url));
    expect(asked()).toEqual([]);
    await before.say("the first one");
    await before.log.getByText("You said: the first one").waitFor();
    const paths = asked()
      .map((url) => new URL(url).pathname)
      // The feed of the thread is opened when there is one.
      .filter((path) => !path.endsWith("/events"));
    expect(paths).toEqual(["visitors", "threads", "tools", "messages"].map((name) => `/v1/widget/${name}`));
  });

  test("shows steps by their latest phase, and the history after a reload", async ({ expect, visit }) => {
    stage.service.scripts.set("steps", [
      [
        { type: "step", id: "clock", phase: "running", text: "Looking at the clock" },
        { type: "step", id: "clock", phase: "done", text: "Looking at the clock" },
        ...reply("Noon."),
      ],
    ]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("steps");
    await at.log.getByText("Noon.").waitFor();
    await expect.poll(() => at.log.locator(".step").count(), SOON).toBe(1);
    expect(await at.log.locator(".step.done").textContent()).toContain("Looking at the clock");
    await at.page.reload();
    await at.log.getByText("Noon.").waitFor();
    expect(await at.log.locator(".user").textContent()).toContain("steps");
  });

  test("goes on with a reply that a reload interrupted, from its beginning", async ({ expect, visit }) => {
    const words = reply("One two three four five six seven.");
    const rest = gate();
    const from = stage.service.asked.length;
    stage.service.scripts.set("reload me", [[...words.slice(0, 2), rest, ...words.slice(2)]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("reload me");
    await at.log.getByText("One two").waitFor();
    await at.page.reload();
    rest.open();
    await at.log.getByText("One two three four five six seven.").waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    await expect.poll(() => at.log.locator(".assistant").count(), SOON).toBe(1);
    const asked = stage.service.asked.slice(from);
    expect(asked.filter(({ body }) => body["text"] === "reload me")).toHaveLength(1);
  });

  test("stops a reply on request, and keeps what was said", async ({ expect, visit }) => {
    const words = reply("This goes on and on and on.");
    stage.service.scripts.set("stop me", [[...words.slice(0, 2), gate(), ...words.slice(2)]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("stop me");
    await at.log.getByText("This goes on").waitFor();
    await at.agent.getByRole("button", { name: "Stop" }).click();
    await at.log.getByText("Stopped").waitFor();
    expect(await at.log.locator(".assistant .text").textContent()).toContain("This goes on");
    expect(await at.tell("agent.state")).toBe("idle");
  });

  test("F6: a stop names the run that it means, and not the one before", async ({ expect, visit }) => {
    stage.service.scripts.set("name me", [[...reply("One").slice(0, 1), gate()]]);
    // Held back before its run has a name.
    stage.service.losing.set("unnamed yet", "before");
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("name me");
    await at.log.getByText("One").waitFor();
    await at.tell("agent.stop()");
    await at.log.getByText("Stopped").waitFor();
    await at.say("unnamed yet");
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("sending");
    await at.tell("agent.stop()");
    const token = await at.tell<string>("agent.getVisitorToken()");
    const stops = stage.service.asked.filter((one) => one.token === token && one.path.endsWith("/cancel"));
    expect(stops.map(({ body }) => body)).toEqual([{ runId: expect.stringMatching(/^[0-9a-f]{16}$/) }, {}]);
  });

  test("counts answers that nobody saw, until somebody looks", async ({ expect, visit }) => {
    const answer = gate();
    stage.service.scripts.set("away", [[answer, ...reply("Back again.")]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("away");
    await at.agent.getByRole("button", { name: "Close chat" }).first().click();
    answer.open();
    await at.agent.locator(".badge").waitFor();
    expect(await at.tell("agent.unreadCount")).toBe(1);
    expect(await at.events("unread")).toEqual([{ count: 1 }]);
    await at.agent.getByRole("button", { name: "Open chat" }).click();
    await expect.poll(() => at.tell("agent.unreadCount"), SOON).toBe(0);
  });

  test("makes one visitor for three tabs that ask at once", async ({ expect, visit }) => {
    const first = await visit(stage.browser, `${stage.site.url}/`);
    const others = await Promise.all([first.page.context().newPage(), first.page.context().newPage()]);
    const tabs = [first, ...others.map(visitOf)];
    await Promise.all(others.map((page) => page.goto(`${stage.site.url}/`)));
    // The first one's answer waits for the others to stand in line: on a busy machine they would come after it.
    const held: Route[] = [];
    await first.page.context().route("**/v1/widget/visitors", (route) => void held.push(route));
    const asked = tabs.map((tab) =>
      tab.tell<string[]>("Promise.all(Array.from({ length: 7 }, () => agent.getVisitorToken()))"),
    );
    const inLine = () => first.tell<number>("navigator.locks.query().then(({ pending }) => pending.length)");
    await expect.poll(inLine, SOON).toBe(2);
    await expect.poll(() => held.length, SOON).toBe(1);
    await held[0]?.continue();
    expect(new Set((await Promise.all(asked)).flat()).size).toBe(1);
  });

  test("shows in one tab what was said in another", async ({ expect, visit }) => {
    const first = await visit(stage.browser, `${stage.site.url}/`);
    await first.say("from the first tab");
    await first.log.getByText("You said: from the first tab").waitFor();
    const page = await first.page.context().newPage();
    const second = visitOf(page);
    await page.goto(`${stage.site.url}/`);
    await second.say("from the second tab");
    await second.log.getByText("You said: from the second tab").waitFor();
    await first.log.getByText("You said: from the second tab").waitFor();
    await expect.poll(() => second.log.locator(".user").count(), SOON).toBe(2);
  });

  test("keeps a draft through a reload, and forgets all of it on reset()", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("remember me");
    await at.log.getByText("You said: remember me").waitFor();
    await at.composer.fill("half a tho");
    await at.page.reload();
    await expect.poll(() => at.composer.inputValue(), SOON).toBe("half a tho");
    await at.log.getByText("You said: remember me").waitFor();
    const token = await at.tell<string>("agent.getVisitorToken()");
    await at.tell("agent.reset()");
    await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(0);
    await expect.poll(() => at.composer.inputValue(), SOON).toBe("");
    expect(await at.tell("agent.getVisitorToken()")).not.toBe(token);
    expect(askedBy(token)).toContain("POST /messages");
  });

  test("begins a new conversation on request", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("old times");
    await at.log.getByText("You said: old times").waitFor();
    const before = await at.tell("agent.threadId");
    await at.agent.getByRole("button", { name: "New conversation" }).click();
    await expect.poll(() => at.tell("agent.threadId"), SOON).not.toBe(before);
    await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(0);
  });

  test("sends the page, without what smells of a secret, and the context along, and refuses a context that is not flat", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/shelf?x=1&reset_token=abc`);
    await at.tell("(agent.context = { plan: 'pro', seats: 3 }, 0)");
    await at.say("with context");
    await at.log.getByText("You said: with context").waitFor();
    const asked = stage.service.asked.find(({ body }) => body["text"] === "with context");
    expect(asked?.body).toMatchObject({
      page: "/shelf?x=1&reset_token=…",
      customerContext: { plan: "pro", seats: 3 },
    });
    await at.tell("agent.setAttribute('page-params', '')");
    await at.say("without parameters");
    await at.log.getByText("You said: without parameters").waitFor();
    const next = stage.service.asked.find(({ body }) => body["text"] === "without parameters");
    expect(next?.body["page"]).toBe("/shelf");
    await expect(at.tell("(agent.context = { deep: {} }, 0)")).rejects.toThrow("Cannot take context: deep");
  });

  test("keeps two channels on one page apart", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/?two=1`);
    const tokens = await at.tell<string[]>(
      "Promise.all([...document.querySelectorAll('chat-agent')].map((one) => one.getVisitorToken()))",
    );
    expect(new Set(tokens).size).toBe(2);
    await at.tell(
      "Promise.all([...document.querySelectorAll('chat-agent')].map((one, n) => one.send(`to ${n}`)))",
    );
    for (const [n, token] of tokens.entries()) {
      const said = stage.service.asked.filter((one) => one.token === token && one.path === "/messages");
      expect(said.map(({ body }) => body["text"])).toEqual([`to ${n}`]);
    }
    await at.page.locator("chat-agent").nth(1).locator(".launcher").click();
    const second = at.page.locator("chat-agent").nth(1).locator("[role=log]");
    await second.getByText("You said: to 1").waitFor();
    await expect.poll(() => second.getByText("You said: to 0").count(), SOON).toBe(0);
    expect(await at.tell("agent.open")).toBe(false);
  });

  test("takes what the page set before the element was known", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/?early=1`);
    expect(await at.tell("['tools', 'suggestions'].filter((name) => Object.hasOwn(agent, name))")).toEqual(
      [],
    );
    await at.agent.locator(".launcher").click();
    await at.agent.getByRole("button", { name: "Soon" }).click();
    await at.log.getByText("You said: Soon").waitFor();
    const token = await at.tell<string>("agent.getVisitorToken()");
    const posted = stage.service.asked.find((one) => one.token === token && one.path === "/tools");
    expect(JSON.stringify(posted?.body["webmcpTools"])).toContain("navigates_only");
  });

  test("shows earlier messages, page by page, and stays where the visitor reads", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("message 1 of 70");
    await at.log.getByText("You said: message 1 of 70").waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    const threadId = await at.tell<string>("agent.threadId");
    const old = Array.from({ length: 68 }, (_, n) => `message ${n + 3} of 70`);
    stage.service.addHistory(threadId, "assistant", ...old);
    await at.tell("agent.refresh()");
    await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(30);
    const earlier = at.agent.getByRole("button", { name: "Earlier messages" });
    const fortyOne = at.log.getByText("message 41 of 70");
    await earlier.click();
    await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(60);
    const box = await at.log.boundingBox();
    const line = await fortyOne.boundingBox();
    expect(line?.y).toBeGreaterThan(box?.y ?? 0);
    expect(line?.y).toBeLessThan((box?.y ?? 0) + (box?.height ?? 0));
    await earlier.click();
    await expect.poll(() => at.log.locator(".message").allTextContents(), SOON).toHaveLength(70);
    await expect.poll(() => earlier.count(), SOON).toBe(0);
    expect(await at.log.locator(".message .text").allTextContents()).toEqual([
      "You said: message 1 of 70",
      ...old,
    ]);
  });
});

describe.concurrent("the statuses of the service", () => {
  test("401: an expired visitor is replaced, and the text arrives all the same", async ({
    expect,
    visit,
  }) => {
    const own = await startScriptedService();
    const page = await startPageServer(own.url);
    try {
      const at = await visit(stage.browser, `${page.url}/`);
      await at.say("first life");
      await at.log.getByText("You said: first life").waitFor();
      own.expireTokens();
      await at.say("second life");
      await at.log.getByText("You said: second life").waitFor();
      expect(own.asked.filter(({ path }) => path === "/visitors")).toHaveLength(2);
      own.forgetThreads();
      await at.say("third life");
      await at.log.getByText("You said: third life").waitFor();
      expect(own.asked.filter(({ path }) => path === "/threads")).toHaveLength(3);
      own.refusals.set("/messages", [{ status: 429, retryAfter: 600 }]);
      await at.page.clock.install();
      await at.say("too fast");
      await at.agent.getByText(/Too many messages\. Wait \d+ s\./).waitFor();
      expect(await at.composer.inputValue()).toBe("too fast");
      const bannersMuchLater = async () => {
        await at.page.clock.runFor(600_000);
        return at.agent.locator(".banner").count();
      };
      await expect.poll(bannersMuchLater, SOON).toBe(0);
      await at.composer.press("Enter");
      await at.log.getByText("You said: too fast").waitFor();
      own.refusals.set("/messages", [{ status: 413 }]);
      await at.say("too long for it");
      await at.agent.getByText("This message is too long.").waitFor();
      expect(await at.composer.inputValue()).toBe("too long for it");
      own.refusals.set("/messages", [{ status: 403 }]);
      await at.composer.press("Enter");
      await expect.poll(() => at.tell("agent.state"), SOON).toBe("blocked");
      expect((await at.events("error")).map(({ status }) => status)).toEqual([429, 413, 403]);
    } finally {
      await page.close();
      await own.close();
    }
  });

  test.for([
    ["pk_unknown", "en", "This chat is not set up correctly.", "Try again"],
    ["pk_refused", "de", "Dieser Chat ist zurzeit nicht verfügbar.", "Erneut versuchen"],
  ] as const)(
    "a %s: the message says why, and can be sent again",
    async ([key, lang, words, again], { expect, visit }) => {
      const at = await visit(stage.browser, `${stage.site.url}/?key=${key}&lang=${lang}`);
      await at.say("let me in");
      await at.log.getByText(words).waitFor();
      expect(await at.tell("agent.state")).toBe("blocked");
      await at.agent.getByRole("button", { name: again }).click();
      await at.log.getByText(words).waitFor();
      expect(await at.composer.isEnabled()).toBe(true);
      expect(at.troubles).toEqual([]);
    },
  );

  test("no publishable-key: the panel says so, an Enter does no harm, and a key mends it", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/?key=`);
    await at.agent.locator(".launcher").click();
    await at.agent.getByText("This chat is not set up correctly.").waitFor();
    expect(await at.composer.isEnabled()).toBe(false);
    expect(await at.tell("agent.state")).toBe("blocked");
    await at.tell("agent.setAttribute('publishable-key', 'pk_test')");
    await at.say("now it works");
    await at.log.getByText("You said: now it works").waitFor();
    expect(await at.agent.getByText("This chat is not set up correctly.").count()).toBe(0);
    expect(at.troubles).toEqual([]);
  });

  test("none, in an outage while the page is reloaded: the history is there when it is over", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("before the outage");
    await at.log.getByText("You said: before the outage").waitFor();
    await at.page.route("**/threads/**", (route) => route.abort());
    await at.page.reload();
    await at.agent.getByText("The chat cannot be reached.").waitFor();
    await at.page.unroute("**/threads/**");
    await at.log.getByText("You said: before the outage").waitFor();
    await expect.poll(() => at.agent.locator(".banner").count(), SOON).toBe(0);
    expect(await at.tell("agent.state")).toBe("idle");
  });

  test("error lines: task_failed shows the site's hint, a fault offers to try again", async ({
    expect,
    visit,
  }) => {
    stage.service.scripts.set("fail the task", [
      [{ type: "error", code: "task_failed", message: "The shop is shut.", hint: "Come back at nine." }],
    ]);
    stage.service.scripts.set("break", [[{ type: "error", message: "The model does not answer" }]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("fail the task");
    await at.log.getByText("Come back at nine.").waitFor();
    await expect.poll(() => at.agent.getByRole("button", { name: "Try again" }).count(), SOON).toBe(0);
    await at.page.reload();
    const failed = at.log.locator(".message").last();
    await failed.locator(".problem").getByText("The shop is shut.").waitFor();
    expect(await at.log.getByText("The shop is shut.").count()).toBe(1);
    await at.say("break");
    await at.log.getByText("Something went wrong.").waitFor();
    stage.service.scripts.set("break", [reply("Better now.")]);
    await at.agent.getByRole("button", { name: "Try again" }).click();
    await at.log.getByText("Better now.").waitFor();
  });

  test("offline: what is typed is kept, and can be sent when the browser is back", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("online");
    await at.log.getByText("You said: online").waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    await at.page.context().setOffline(true);
    await at.agent.getByText("You are offline. Your text is kept.").waitFor();
    await at.composer.fill("patience");
    const send = at.agent.getByRole("button", { name: "Send" });
    expect(await send.isDisabled()).toBe(true);
    await at.page.context().setOffline(false);
    // The page hears of it a moment later.
    await expect.poll(() => send.isDisabled(), SOON).toBe(false);
    await at.composer.press("Enter");
    await at.log.getByText("You said: patience").waitFor();
  });
});

test("a tool result whose stream breaks is posted again, and the tool runs once", async ({
  expect,
  visit,
}) => {
  const words = reply("Found after the cut.");
  const rest = gate();
  const from = stage.service.asked.length;
  stage.service.scripts.set("cut the result", [
    call("returns", { word: "it" }),
    [called("returns"), { type: "cut" }, rest, ...words],
  ]);
  const at = await visit(stage.browser, `${stage.site.url}/`);
  await at.say("cut the result");
  const results = () =>
    stage.service.asked
      .slice(from)
      .filter(({ path, body }) => path === "/tool-results" && body["tool"] === "returns");
  await expect.poll(() => results().length, SOON).toBe(2);
  rest.open();
  await at.log.getByText("Found after the cut.").waitFor();
  const posts = results();
  expect(posts).toHaveLength(2);
  expect(new Set(posts.map(({ body }) => body["callId"])).size).toBe(1);
  expect(await at.tell("window.calls")).toEqual(["returns"]);
});
