// For src/widget/run/tab/run-work.ts, src/widget/run/tab/tab-run.ts
import { describe } from "vitest";
import type { ExpectStatic } from "vitest";
import { launchBrowser, SOON, test, visitOf } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { call, called, gate, reply } from "../scripted-service.ts";
import type { Gate } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

const LOST = ["before", "after"] as const;

/** The requests that sent this text. */
const posts = (text: string) => stage.service.asked.filter(({ body }) => body["text"] === text);

/** What the page asked of the service's streams, once a message was sent. */
const attached = (token: string) =>
  stage.service.asked.filter((one) => one.token === token && one.path.endsWith("/stream"));

const retryOf = (at: Visit) => at.agent.getByRole("button", { name: "Try again" });

/** The service has the message once, under one id, and this tab shows it with its reply once, `after` what was said before. */
async function expectSaidOnce(expect: ExpectStatic, at: Visit, text: string, after = 0): Promise<void> {
  await at.log.getByText(`You said: ${text}`).waitFor();
  await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
  await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(after + 2);
  expect(await retryOf(at).count()).toBe(0);
  expect(stage.service.said(text)).toHaveLength(1);
  expect(new Set(posts(text).map(({ body }) => body["clientMessageId"])).size).toBe(1);
}

/** Breaks the stream off when the page has shown its first word: what it has not read goes with the connection. */
async function cutWhenSeen(at: Visit, cut: Gate): Promise<void> {
  await at.log
    .getByText(/^You said/)
    .first()
    .waitFor();
  cut.open();
}

/** Opens the panel, and lets no time pass in the page from then on: no wait is ever over. */
async function freeze(at: Visit): Promise<void> {
  await at.agent.locator(".launcher").click();
  await at.composer.waitFor();
  await at.page.clock.install();
  await at.page.clock.pauseAt(Date.now() + 60_000);
}

/** Says a text whose answers are lost. Resolves when the page has lost the first one, and waits. */
async function sayAndLose(at: Visit, text: string): Promise<void> {
  await freeze(at);
  const lost = at.page.waitForEvent("requestfailed", (request) => request.url().endsWith("/messages"));
  await at.tell(`void agent.send('${text}')`);
  await lost;
}

/** Says a text whose answers are lost, until the element gives up. */
async function sayInVain(expect: ExpectStatic, at: Visit, text: string): Promise<void> {
  // It would tell of what arrived, which is then not shown as not sent.
  await at.page.context().route("**/events?*", (route) => route.abort());
  await at.page.clock.install();
  await at.say(text);
  await expect.poll(() => posts(text).length, SOON).toBeGreaterThan(0);
  // Each wait for the next attempt is over as soon as it has begun.
  const shownAsNotSent = async () => {
    await at.page.clock.runFor(5_000);
    return at.log.getByText("Not sent.").count();
  };
  await expect.poll(shownAsNotSent, SOON).toBe(1);
}

describe.concurrent("a message whose answer is lost", () => {
  test.for(LOST)(
    "%s it arrived: it is sent again by itself, and said once",
    async (when, { expect, visit }) => {
      const text = `lost ${when}`;
      stage.service.losing.set(text, when);
      const at = await visit(stage.browser, `${stage.site.url}/`);
      await at.say(text);
      await at.agent.getByText("Reconnecting…").waitFor();
      stage.service.losing.delete(text);
      await expectSaidOnce(expect, at, text);
      expect(await at.events("error")).toEqual([]);
      expect((await at.events("message")).map(({ role }) => role)).toEqual(["user", "assistant"]);
    },
  );

  test.for(LOST)(
    "%s it arrived, again and again: it is shown as not sent, and a Retry pressed twice says it once",
    async (when, { expect, visit }) => {
      const text = `in vain ${when}`;
      stage.service.losing.set(text, when);
      const at = await visit(stage.browser, `${stage.site.url}/`);
      await sayInVain(expect, at, text);
      expect(await at.tell("agent.state")).toBe("error");
      await at.composer.fill("written meanwhile");
      stage.service.losing.delete(text);
      await retryOf(at).dblclick();
      await at.tell("agent.retry()");
      await expectSaidOnce(expect, at, text);
      expect(await at.composer.inputValue()).toBe("written meanwhile");
    },
  );

  test.for(LOST)(
    "%s it arrived: a reload of the page in between, and the next page sends it again by itself",
    async (when, { expect, visit }) => {
      const text = `reloaded ${when}`;
      stage.service.losing.set(text, when);
      const at = await visit(stage.browser, `${stage.site.url}/`);
      await sayAndLose(at, text);
      await at.page.reload();
      stage.service.losing.delete(text);
      await at.page.clock.resume();
      await expectSaidOnce(expect, at, text);
    },
  );

  test.for(LOST)(
    "%s it arrived: the Retry is there after a reload and in another tab, and may be pressed in both",
    async (when, { expect, visit }) => {
      const text = `everywhere ${when}`;
      const words = reply(`You said: ${text}`);
      if (when === "before")
        stage.service.scripts.set(text, [call("returns"), [called("returns"), ...words]]);
      const at = await visit(stage.browser, `${stage.site.url}/`);
      stage.service.losing.set(text, when);
      await sayInVain(expect, at, text);
      stage.service.losing.set(text, "before");
      const page = await at.page.context().newPage();
      const other = visitOf(page);
      await page.goto(`${stage.site.url}/`);
      await other.agent.locator(".launcher").click();
      await at.page.reload();
      // Where it arrived, both pages know it from the history, and there is nothing to repeat.
      const shown = (tab: Visit) =>
        when === "before" ? retryOf(tab) : tab.log.getByText(`You said: ${text}`);
      await Promise.all([shown(at).waitFor(), shown(other).waitFor()]);
      stage.service.losing.delete(text);
      await Promise.all([at.tell("agent.retry()"), other.tell("agent.retry()")]);
      await Promise.all([expectSaidOnce(expect, at, text), expectSaidOnce(expect, other, text)]);
      const calls = await Promise.all([at, other].map((tab) => tab.tell<string[]>("window.calls")));
      expect(calls.flat()).toEqual(when === "before" ? ["returns"] : []);
    },
  );

  test("and whose repeat comes too soon (429): it waits, and does not go back to the composer", async ({
    expect,
    visit,
  }) => {
    stage.service.refusals.set("/messages hasty", [{ status: 503 }, { status: 429, retryAfter: 600 }]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.page.clock.install();
    await at.say("hasty");
    await at.agent.getByText(/Too many messages\. Wait \d+ s\./).waitFor();
    expect(await at.composer.inputValue()).toBe("");
    const muchLater = async () => {
      await at.page.clock.runFor(600_000);
      return stage.service.said("hasty").length;
    };
    await expect.poll(muchLater, SOON).toBe(1);
    await expectSaidOnce(expect, at, "hasty");
  });

  test("because the browser is offline: it is sent when the browser is back", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    // All that the element loads is there then.
    await at.agent.locator(".launcher").click();
    await at.composer.waitFor();
    await at.tell("void agent.send('hello')");
    await expectSaidOnce(expect, at, "hello");
    await at.page.context().setOffline(true);
    await at.agent.getByText("You are offline. Your text is kept.").waitFor();
    await at.page.clock.install();
    await at.tell("void agent.send('patience')");
    const waits = async () => {
      await at.page.clock.runFor(1_000);
      return at.agent.getByText("Reconnecting…").count();
    };
    await expect.poll(waits, SOON).toBe(1);
    // No timer ends this wait.
    await at.page.clock.runFor(600_000);
    expect(await waits()).toBe(1);
    expect(await at.tell("agent.state")).toBe("sending");
    await at.page.context().setOffline(false);
    await expectSaidOnce(expect, at, "patience", 2);
  });

  test("and is answered 503: it waits as long as retry-after says", async ({ expect, visit }) => {
    stage.service.refusals.set("/messages come back later", [{ status: 503, retryAfter: 25 }]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await freeze(at);
    await at.tell("void agent.send('come back later')");
    const waits = async () => {
      // Time for a frame to be drawn, and no more.
      await at.page.clock.runFor(1);
      return at.agent.getByText("Reconnecting…").count();
    };
    await expect.poll(waits, SOON).toBe(1);
    await at.page.clock.runFor(20_000);
    expect(posts("come back later")).toHaveLength(1);
    await at.page.clock.runFor(5_000);
    await expect.poll(() => posts("come back later").length, SOON).toBe(2);
    await at.page.clock.resume();
    await expectSaidOnce(expect, at, "come back later");
  });

  test("is stopped by the visitor: it is not sent any more", async ({ expect, visit }) => {
    stage.service.losing.set("never mind", "before");
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await sayAndLose(at, "never mind");
    await at.tell("agent.stop()");
    stage.service.losing.delete("never mind");
    await at.page.clock.resume();
    await at.log.getByText("Stopped").waitFor();
    await at.page.reload();
    await at.say("something else");
    await at.log.getByText("You said: something else").waitFor();
    expect(stage.service.said("never mind")).toEqual([]);
  });

  test("on an insecure page, which has no randomUUID and no locks", async ({ expect, visit }) => {
    const insecure = await launchBrowser({ webMcp: false, hosts: "MAP insecure.test 127.0.0.1" });
    try {
      stage.service.losing.set("insecure", "after");
      const at = await visit(insecure, stage.site.url.replace("127.0.0.1", "insecure.test"));
      expect(await at.tell("[isSecureContext, typeof crypto.randomUUID]")).toEqual([false, "undefined"]);
      await sayAndLose(at, "insecure");
      stage.service.losing.delete("insecure");
      await at.page.clock.resume();
      await expectSaidOnce(expect, at, "insecure");
    } finally {
      await insecure.close();
    }
  });
});

describe.concurrent("a stream that breaks off", () => {
  test("is opened again by the name of its run, and the message is not sent again", async ({
    expect,
    visit,
  }) => {
    const [cut, rest] = [gate(), gate()];
    const [first, ...words] = reply("You said: cut me");
    if (first === undefined) throw new Error("A reply has words");
    stage.service.scripts.set("cut me", [[first, cut, { type: "cut" }, rest, ...words]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("cut me");
    await cutWhenSeen(at, cut);
    const token = await at.tell<string>("agent.getVisitorToken()");
    await expect.poll(() => attached(token).length, SOON).toBe(1);
    rest.open();
    await expectSaidOnce(expect, at, "cut me");
    expect(posts("cut me")).toHaveLength(1);
    expect(attached(token)[0]?.query).toMatch(/^\?run=[0-9a-f]+$/);
  });

  test("is asked for by the message's id, where the service names no run", async ({ expect, visit }) => {
    const [cut, rest] = [gate(), gate()];
    const [first, ...words] = reply("You said: no name");
    if (first === undefined) throw new Error("A reply has words");
    stage.service.unnamed.add("no name");
    stage.service.scripts.set("no name", [[first, cut, { type: "cut" }, rest, ...words]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("no name");
    await cutWhenSeen(at, cut);
    await expect.poll(() => posts("no name").length, SOON).toBe(2);
    rest.open();
    await expectSaidOnce(expect, at, "no name");
    expect(attached(await at.tell<string>("agent.getVisitorToken()"))).toEqual([]);
  });

  test("because its run moved to another instance: the other tab's run, begun since, is not shown for it", async ({
    expect,
    visit,
  }) => {
    const [move, rest] = [gate(), gate()];
    stage.service.scripts.set("I move", [
      [{ type: "delta", text: "You said: " }, move, { type: "move" }, rest, ...reply("I move")],
    ]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    // The service has one run of a thread at a time; its double has two here, which no feed could tell.
    await at.page.context().route("**/events?*", (route) => route.abort());
    await at.say("I move");
    await move.reached;
    const page = await at.page.context().newPage();
    const other = visitOf(page);
    await page.goto(`${stage.site.url}/`);
    const restOfOther = gate();
    stage.service.scripts.set("I stay", [
      [{ type: "delta", text: "Of the other run" }, restOfOther, ...reply("!")],
    ]);
    // Sent by the page: an open panel would read along with the first run, and not send.
    await other.tell("void agent.send('I stay')");
    await restOfOther.reached;
    await other.agent.locator(".launcher").click();
    const token = await at.tell<string>("agent.getVisitorToken()");
    const before = attached(token).length;
    move.open();
    await expect.poll(() => attached(token).length, SOON).toBe(before + 1);
    rest.open();
    await at.log.getByText("You said: I move").waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    expect(await at.log.getByText("Of the other run").count()).toBe(0);
    expect((await at.events("message")).map(({ text }) => text)).toEqual(["I move", "You said: I move"]);
    restOfOther.open();
    await other.log.getByText("Of the other run!").waitFor();
  });

  test("for good: a Retry goes on with the same run, also after a reload", async ({ expect, visit }) => {
    const [cut, rest] = [gate(), gate()];
    const [first, ...words] = reply("You said: for good");
    if (first === undefined) throw new Error("A reply has words");
    stage.service.scripts.set("for good", [[first, cut, { type: "cut" }, rest, ...words]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.page.clock.install();
    await at.page.route("**/stream?run=*", (route) => route.abort());
    // The feed would bring the reply by itself.
    await at.page.route("**/events?*", (route) => route.abort());
    await at.say("for good");
    await cutWhenSeen(at, cut);
    const shownAsLost = async () => {
      await at.page.clock.runFor(5_000);
      return at.log.getByText("The connection was lost.").count();
    };
    await expect.poll(shownAsLost, SOON).toBe(1);
    await at.page.unroute("**/stream?run=*");
    rest.open();
    await retryOf(at).click();
    await expectSaidOnce(expect, at, "for good");
    await at.page.reload();
    await expectSaidOnce(expect, at, "for good");
    expect(posts("for good")).toHaveLength(1);
  });
});
