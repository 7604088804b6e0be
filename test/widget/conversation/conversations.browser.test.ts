// For src/widget/run/thread/thread-list.ts, src/widget/view/thread-list-view.tsx, src/widget/view/thread-deletion.tsx
import { describe } from "vitest";
import type { ExpectStatic } from "vitest";
import { violations } from "../page/axe.ts";
import { SOON, test, visitOf } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { gate, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

/** Says the texts, each in a conversation of its own. Returns their threads. */
async function converse(expect: ExpectStatic, at: Visit, ...texts: string[]): Promise<string[]> {
  const threads: string[] = [];
  for (const text of texts) {
    if (threads.length > 0) await at.tell("agent.newThread()");
    await at.say(text);
    await at.log.getByText(`You said: ${text}`).waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    threads.push(await at.tell<string>("agent.threadId"));
  }
  return threads;
}

const listButton = (at: Visit) => at.agent.getByRole("button", { name: "Conversations" });
const titles = (at: Visit) => at.agent.locator(".thread .title").allTextContents();

describe.concurrent("the list of conversations", () => {
  test("has the latest first, by their first words, and leads back by keyboard alone", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`, { viewport: { width: 390, height: 700 } });
    const long = `first words of a message that is far too long for a title ${"and goes on ".repeat(9)}`;
    const [, second] = await converse(expect, at, long, "the second one", "the third one");
    await listButton(at).focus();
    await at.page.keyboard.press("Enter");
    await expect.poll(async () => (await titles(at)).filter((title) => title !== "…"), SOON).toHaveLength(3);
    const [latest, middle, oldest] = await titles(at);
    expect([latest, middle]).toEqual(["the third one", "the second one"]);
    expect(oldest).toMatch(/^first words of a message that is far too long for a title and .*…$/);
    expect(oldest?.length).toBeLessThanOrEqual(81);
    expect(await violations(at)).toEqual([]);
    const wide = "document.documentElement.scrollWidth <= innerWidth";
    expect(await at.tell(wide)).toBe(true);
    const focused = () => at.tell<string>("agent.shadowRoot.activeElement?.className ?? ''");
    await expect.poll(focused, SOON).toContain("back");
    await at.page.keyboard.press("Escape");
    await expect.poll(focused, SOON).toContain("list");
    expect(await at.tell("agent.open")).toBe(true);
    await at.page.keyboard.press("Enter");
    await at.agent.locator(".thread").nth(1).focus();
    await at.page.keyboard.press("Enter");
    await at.log.getByText("You said: the second one").waitFor();
    await expect.poll(focused, SOON).toContain("log");
    expect(await at.tell("agent.threadId")).toBe(second);
    expect(at.troubles).toEqual([]);
  });

  test("says which ones went on since they were seen, and reads each title once", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    const [first = "", second = ""] = await converse(
      expect,
      at,
      "the old one",
      "a quiet one",
      "the present one",
    );
    // Their histories were shown and so seen; the feeds are closed, so nothing tells this page.
    for (const thread of [first, second]) {
      await at.tell(`(agent.threadId = "${thread}", 0)`);
      await at.log.getByText("You said:").waitFor();
      await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    }
    stage.service.addHistory(first, "assistant", "One more thing");
    await listButton(at).click();
    const news = at.agent.locator(".thread", { has: at.page.getByRole("img", { name: "new messages" }) });
    await news.getByText("the old one").waitFor();
    expect(await news.count()).toBe(1);
    const read = () =>
      stage.service.asked.filter(({ path, query }) => path.includes(first) && query.includes("limit=1&"));
    const before = read().length;
    await at.page.keyboard.press("Escape");
    await listButton(at).click();
    await news.getByText("the old one").waitFor();
    expect(read()).toHaveLength(before);
    await news.click();
    await at.log.getByText("One more thing").waitFor();
    await listButton(at).click();
    await at.agent.locator(".thread").first().waitFor();
    expect(await news.count()).toBe(0);
  });

  test("comes in pages, and says so where a page does not come", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await converse(expect, at, "the one that has words");
    const token = await at.tell<string>("agent.getVisitorToken()");
    for (let n = 1; n <= 20; n += 1) stage.service.addThread(token, `number ${n}`);
    const more = at.agent.getByRole("button", { name: "Show more" });
    await listButton(at).click();
    await more.waitFor();
    expect(await titles(at)).toHaveLength(15);
    await at.page.route("**/v1/widget/threads?*", (route) => route.abort());
    await more.click();
    await at.agent.getByText("Something went wrong.").waitFor();
    await at.page.unroute("**/v1/widget/threads?*");
    await at.agent.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => titles(at), SOON).toHaveLength(21);
    await expect.poll(async () => (await titles(at)).includes("…"), SOON).toBe(false);
    expect(new Set(await titles(at)).size).toBe(21);
    expect(await more.count()).toBe(0);
  });

  test("leaves each conversation its draft", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await converse(expect, at, "with a draft", "another");
    const enter = async (title: string) => {
      await listButton(at).click();
      await at.agent.getByText(title, { exact: true }).click();
      await at.log.getByText(`You said: ${title}`).waitFor();
    };
    await enter("with a draft");
    await at.composer.fill("half a tho");
    await enter("another");
    expect(await at.composer.inputValue()).toBe("");
    await at.composer.fill("and another");
    await at.page.reload();
    await expect.poll(() => at.composer.inputValue(), SOON).toBe("and another");
    await at.log.getByText("You said: another").waitFor();
    await enter("with a draft");
    expect(await at.composer.inputValue()).toBe("half a tho");
    await at.agent.getByRole("button", { name: "New conversation" }).click();
    await expect.poll(() => at.composer.inputValue(), SOON).toBe("");
    await enter("another");
    expect(await at.composer.inputValue()).toBe("and another");
  });
});

describe.concurrent("a conversation that its visitor deletes", () => {
  test("is asked about, is gone in the other tab too, whose reply ends, and leaves a new one", async ({
    expect,
    visit,
  }) => {
    const waits = gate();
    stage.service.scripts.set("a long one", [[...reply("Begun"), waits, ...reply("and never ended")]]);
    const at = await visit(stage.browser, `${stage.site.url}/`, { viewport: { width: 390, height: 700 } });
    const [kept = "", gone = ""] = await converse(expect, at, "to be kept", "to be deleted");
    const other = visitOf(await at.page.context().newPage());
    await other.page.goto(`${stage.site.url}/`);
    await other.tell("agent.show()");
    await other.log.getByText("You said: to be deleted").waitFor();

    await listButton(at).press("Enter");
    const row = at.agent.locator("li", { hasText: "to be deleted" });
    const bin = row.getByRole("button", { name: "Delete this conversation" });
    const question = at.agent.getByRole("group", { name: "Delete this conversation for good?" });
    await bin.press("Enter");
    await question.waitFor();
    expect(await violations(at)).toEqual([]);
    const focused = () => at.tell<string>("agent.shadowRoot.activeElement?.className ?? ''");
    await expect.poll(focused, SOON).toContain("confirm");
    await at.page.keyboard.press("Escape");
    await expect.poll(focused, SOON).toContain("delete");
    expect(await titles(at)).toEqual(["to be deleted", "to be kept"]);

    await other.say("a long one");
    await other.log.getByText("Begun").waitFor();
    await bin.press("Enter");
    await question.getByRole("button", { name: "Delete" }).press("Enter");
    await expect.poll(() => at.tell("agent.threadId"), SOON).toBeNull();
    await at.agent.getByText("Hello! How can I help?").waitFor();
    await expect.poll(() => at.tell("agent.shadowRoot.activeElement?.localName"), SOON).toBe("textarea");
    await expect.poll(() => other.tell("agent.threadId"), SOON).toBeNull();
    await expect.poll(() => other.agent.locator(".message").count(), SOON).toBe(0);
    expect(await other.tell("agent.state")).toBe("idle");
    // Nothing of it is left in the browser, also where it was a title alone.
    expect(await at.tell("JSON.stringify([localStorage, sessionStorage])")).not.toContain(gone);
    expect(await at.tell("JSON.stringify(localStorage)")).not.toContain("to be deleted");

    // The other is there, and goes the same way, from within the list; a failure is said.
    await at.say("a new one");
    await at.log.getByText("You said: a new one").waitFor();
    await listButton(at).press("Enter");
    await expect.poll(() => titles(at), SOON).toEqual(["a new one", "to be kept"]);
    const first = at.agent.locator("li", { hasText: "to be kept" });
    await first.getByRole("button", { name: "Delete this conversation" }).press("Enter");
    stage.service.refusals.set(`/threads/${kept}/delete`, [{ status: 503 }]);
    await question.getByRole("button", { name: "Delete" }).press("Enter");
    await question.getByText("Something went wrong.").waitFor();
    await question.getByRole("button", { name: "Delete" }).press("Enter");
    await expect.poll(() => titles(at), SOON).toEqual(["a new one"]);
    await at.page.keyboard.press("Escape");
    await at.log.getByText("You said: a new one").waitFor();
    // The failure is told to the site's owner, too.
    expect([...at.troubles, ...other.troubles]).toEqual([
      expect.stringContaining("The service answered 503"),
    ]);
    waits.open();
  });
});

describe.concurrent("a visitor who has conversations that this browser has not begun", () => {
  test("on another device: the latest one is shown, and the others are listed", async ({ expect, visit }) => {
    const first = await visit(stage.browser, `${stage.site.url}/`);
    await converse(expect, first, "from the desk", "later, from the desk");
    const token = await first.tell<string>("agent.getVisitorToken()");
    const other = await visit(stage.browser, `${stage.site.url}/`);
    await other.tell("agent.show()");
    // Who signs in has a visitor first, whom the page's backend then makes the account's.
    const own = await other.tell<string>("agent.getVisitorToken()");
    stage.service.identify(own, token);
    await other.tell("agent.refresh()");
    await other.log.getByText("You said: later, from the desk").waitFor();
    await listButton(other).click();
    await expect.poll(() => titles(other), SOON).toEqual(["later, from the desk", "from the desk"]);
  });

  test("with the token that a sign-in gave in the place of theirs: the conversation goes on, and so does its feed", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    const [threadId = ""] = await converse(expect, at, "before the token changed");
    const old = await at.tell<string>("agent.getVisitorToken()");
    const fresh = stage.service.rotate(old);
    await at.tell(`agent.setVisitorToken("${fresh}")`);
    expect(await at.tell("agent.getVisitorToken()")).toBe(fresh);
    await at.say("with the new token");
    await at.log.getByText("You said: with the new token").waitFor();
    expect(await at.tell("agent.threadId")).toBe(threadId);
    await at.log.getByText("You said: before the token changed").waitFor();
    const feeds = () => stage.service.asked.filter(({ path }) => path === `/threads/${threadId}/events`);
    stage.service.endFeeds();
    await expect.poll(() => feeds().at(-1)?.token, SOON).toBe(fresh);
  });

  test("in a panel that is opened after the sign-in: the same; who wants a new one, has a new one", async ({
    expect,
    visit,
  }) => {
    const first = await visit(stage.browser, `${stage.site.url}/`);
    await converse(expect, first, "before the sign-out");
    const token = await first.tell<string>("agent.getVisitorToken()");
    await first.tell("agent.reset()");
    await first.tell("agent.hide()");
    stage.service.identify(await first.tell<string>("agent.getVisitorToken()"), token);
    await first.tell("agent.show()");
    await first.log.getByText("You said: before the sign-out").waitFor();
    await first.tell("agent.newThread()");
    await first.page.reload();
    await listButton(first).waitFor();
    expect(await first.log.locator(".message").count()).toBe(0);
    const page = await first.page.context().newPage();
    const second = visitOf(page);
    await page.goto(`${stage.site.url}/`);
    await second.tell("agent.show()");
    await second.log.getByText("You said: before the sign-out").waitFor();
  });
});
