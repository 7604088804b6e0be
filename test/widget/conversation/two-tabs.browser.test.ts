// For src/widget/run/thread/thread-feed.ts, src/widget/run/thread/followed-thread.ts, src/widget/service/tab-lock.ts
import { describe } from "vitest";
import { SOON, test, visitOf } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { call, called, gate, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

/** Another tab of the same browser, with an open panel. */
async function secondTab({ page }: Visit): Promise<Visit> {
  const tab = visitOf(await page.context().newPage());
  await tab.page.goto(`${stage.site.url}/`);
  await tab.agent.locator(".launcher").click();
  return tab;
}

const texts = (at: Visit) => at.log.locator(".message").locator(".user-text, .text").allTextContents();
const feedsOf = async (at: Visit) => {
  const threadId = await at.tell<string>("agent.threadId");
  return stage.service.asked.filter(({ path }) => path === `/threads/${threadId}/events`);
};

describe.concurrent("two tabs of one conversation", () => {
  test("the reply to a message of one is seen in the other as it is written, and what is typed there stays", async ({
    expect,
    visit,
  }) => {
    const words = reply("One two three four five six.");
    const rest = gate();
    stage.service.scripts.set("live", [[...words.slice(0, 2), rest, ...words.slice(2)]]);
    const first = await visit(stage.browser, `${stage.site.url}/`);
    await first.say("hello");
    await first.log.getByText("You said: hello").waitFor();
    const second = await secondTab(first);
    await second.log.getByText("You said: hello").waitFor();
    await second.composer.fill("half a tho");
    await first.say("live");
    await second.log.getByText("One two").waitFor();
    expect(await second.tell("agent.state")).toBe("streaming");
    rest.open();
    for (const tab of [first, second]) {
      await expect.poll(() => tab.tell("agent.state"), SOON).toBe("idle");
      await expect
        .poll(() => texts(tab), SOON)
        .toEqual(["hello", "You said: hello", "live", "One two three four five six."]);
    }
    expect(await second.composer.inputValue()).toBe("half a tho");
    const focused = "agent.shadowRoot.activeElement?.localName";
    expect(await second.tell(focused)).toBe("textarea");
    // It was said here once, and is nobody's to repeat.
    expect(stage.service.said("live")).toHaveLength(1);
    expect([...first.troubles, ...second.troubles]).toEqual([]);
  });

  test("a page's tool runs in the tab that asked, and the other sees what came of it", async ({
    expect,
    visit,
  }) => {
    stage.service.scripts.set("use it", [call("returns"), [called("returns"), ...reply("Used.")]]);
    const first = await visit(stage.browser, `${stage.site.url}/`);
    await first.say("hello");
    await first.log.getByText("You said: hello").waitFor();
    const second = await secondTab(first);
    await second.log.getByText("You said: hello").waitFor();
    await first.say("use it");
    for (const tab of [first, second]) {
      await tab.log.getByText("Used.").waitFor();
      await expect.poll(() => tab.tell("agent.state"), SOON).toBe("idle");
      await expect.poll(() => texts(tab), SOON).toEqual(["hello", "You said: hello", "use it", "Used."]);
      expect(await tab.log.locator(".step").count()).toBe(1);
    }
    expect(await first.tell("window.calls")).toEqual(["returns"]);
    expect(await second.tell("window.calls")).toEqual([]);
  });

  test("a closed panel of another page counts what comes, until somebody looks anywhere", async ({
    expect,
    visit,
  }) => {
    const first = await visit(stage.browser, `${stage.site.url}/`);
    await first.say("hello");
    await first.log.getByText("You said: hello").waitFor();
    await expect.poll(() => first.tell("agent.state"), SOON).toBe("idle");
    // The whole history is shown, and so noted as seen, when there are a message and the button.
    await first.page.reload();
    await first.log.getByText("You said: hello").waitFor();
    await first.agent.locator(".list").waitFor();
    await first.tell("agent.hide()");
    const threadId = await first.tell<string>("agent.threadId");
    await first.page.goto(`${stage.site.url}/next`);
    await expect.poll(async () => (await feedsOf(first)).length, SOON).toBeGreaterThan(1);
    stage.service.addHistory(threadId, "assistant", "Said while you were away");
    await first.agent.locator(".badge").waitFor();
    expect(await first.tell("agent.unreadCount")).toBe(1);
    await first.page.reload();
    await first.agent.locator(".badge").waitFor();
    expect(await first.tell("agent.unreadCount")).toBe(1);
    await (await secondTab(first)).log.getByText("Said while you were away").waitFor();
    await expect.poll(() => first.tell("agent.unreadCount"), SOON).toBe(0);
  });

  test("lines that this version does not show change nothing, a reset reads the history, an end brings it back", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("hello");
    await at.log.getByText("You said: hello").waitFor();
    await expect.poll(async () => (await feedsOf(at)).length, SOON).toBeGreaterThan(0);
    const threadId = await at.tell<string>("agent.threadId");
    const tell = (line: object) => stage.service.tell(threadId, line);
    tell({ type: "typing", name: "Ada" });
    tell({ type: "state", state: "waiting_for_person", waitingSince: 1 });
    tell({ type: "state", state: "with_person", with: "Ada" });
    tell({ type: "brand-new", text: "?" });
    tell({ type: "message", item: { id: "2", role: "assistant", content: "told twice", createdAt: 1 } });
    tell({ type: "reset" });
    stage.service.addHistory(threadId, "assistant", "After the reset");
    await at.log.getByText("After the reset").waitFor();
    stage.service.endFeeds();
    stage.service.addHistory(threadId, "assistant", "After the end");
    await at.log.getByText("After the end").waitFor();
    expect(await texts(at)).toEqual(["hello", "You said: hello", "After the reset", "After the end"]);
    expect((await feedsOf(at)).at(-1)?.query).toBe("?after=3");
    expect(at.troubles).toEqual([]);
  });

  test("a thread that is deleted is gone from the page, and the next message begins another", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("short-lived");
    await at.log.getByText("You said: short-lived").waitFor();
    const threadId = await at.tell<string>("agent.threadId");
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    stage.service.deleteThread(threadId);
    await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(0);
    await at.say("anew");
    await at.log.getByText("You said: anew").waitFor();
    expect(await at.tell("agent.threadId")).not.toBe(threadId);
  });
});
