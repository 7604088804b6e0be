// For src/widget/run/thread/rate-replies.ts, src/widget/view/message/shown-feedback.ts, src/widget/view/message/thumbs.tsx
import { describe } from "vitest";
import { violations } from "../page/axe.ts";
import { SOON, test } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

const thumb = ({ log }: Visit, name: "Good reply" | "Bad reply") => log.getByRole("button", { name });
const pressed = async (at: Visit) => [
  await thumb(at, "Good reply").getAttribute("aria-pressed"),
  await thumb(at, "Bad reply").getAttribute("aria-pressed"),
];

/** What the service was told of this conversation. */
async function given(at: Visit) {
  const threadId = await at.tell<string>("agent.threadId");
  const path = `/threads/${threadId}/feedback`;
  return stage.service.asked.filter((one) => one.path === path).map(({ body }) => body);
}

describe.concurrent("the thumbs on replies", () => {
  test("rate a reply by keyboard alone, ask for words that may be left out, and are as they were after a reload", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("hello");
    await thumb(at, "Good reply").press("Enter");
    await expect.poll(() => pressed(at), SOON).toEqual(["true", "false"]);
    const words = at.log.getByRole("textbox", { name: "What was wrong? (optional)" });
    expect(await words.count()).toBe(0);
    await thumb(at, "Bad reply").press("Space");
    await words.fill("It is not my order");
    expect(await violations(at)).toEqual([]);
    await words.press("Enter");
    await expect.poll(() => words.count(), SOON).toBe(0);
    await expect
      .poll(() => given(at), SOON)
      .toEqual([
        { messageId: "2", rating: "up" },
        { messageId: "2", rating: "down" },
        { messageId: "2", rating: "down", comment: "It is not my order" },
      ]);
    await at.page.reload();
    await expect.poll(() => pressed(at), SOON).toEqual(["false", "true"]);
    await thumb(at, "Bad reply").click();
    await expect.poll(() => pressed(at), SOON).toEqual(["false", "false"]);
    await thumb(at, "Bad reply").click();
    await at.log.getByRole("button", { name: "Skip" }).click();
    await expect.poll(() => words.count(), SOON).toBe(0);
    await expect
      .poll(async () => (await given(at)).slice(3), SOON)
      .toEqual([
        { messageId: "2", rating: null },
        { messageId: "2", rating: "down" },
      ]);
    expect(await at.log.locator(".user").getByRole("button", { name: /reply/ }).count()).toBe(0);
    expect(at.troubles).toEqual([]);
  });

  test("are posted one after the other, and ask for words until those are kept", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("hello");
    await thumb(at, "Bad reply").waitFor();
    const going: (() => void)[] = [];
    await at.page.route("**/feedback", async (route) => {
      if (route.request().method() === "POST") await new Promise<void>((resolve) => void going.push(resolve));
      await route.continue();
    });
    await thumb(at, "Bad reply").click();
    const words = at.log.getByRole("textbox", { name: "What was wrong? (optional)" });
    await words.fill("Too long");
    await words.press("Enter");
    await expect.poll(() => going.length, SOON).toBe(1);
    // Time for what must not happen.
    await at.page.waitForTimeout(200);
    expect(going.length).toBe(1);
    going[0]!();
    await expect.poll(() => going.length, SOON).toBe(2);
    expect(await words.inputValue()).toBe("Too long");
    going[1]!();
    await expect.poll(() => words.count(), SOON).toBe(0);
    expect((await given(at)).at(-1)).toEqual({ messageId: "2", rating: "down", comment: "Too long" });
    expect(at.troubles).toEqual([]);
  });

  test("say what the service did not take, and are gone where the page wants none", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("hello");
    await thumb(at, "Good reply").waitFor();
    const threadId = await at.tell<string>("agent.threadId");
    stage.service.refusals.set(`/threads/${threadId}/feedback`, [{ status: 503 }]);
    await thumb(at, "Good reply").click();
    await at.agent.getByRole("alert").waitFor();
    expect(await pressed(at)).toEqual(["false", "false"]);
    await at.tell("agent.setAttribute('feedback', 'off')");
    await expect.poll(() => thumb(at, "Good reply").count(), SOON).toBe(0);
  });

  test("are not on what a person wrote", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("hello");
    await thumb(at, "Good reply").waitFor();
    const item = { id: "3", role: "assistant", content: "Ada here", createdAt: Date.now() };
    const author = { type: "person", name: "Ada" };
    const threadId = await at.tell<string>("agent.threadId");
    stage.service.tell(threadId, { type: "message", item: { ...item, author } });
    await at.log.getByText("Ada here").waitFor();
    expect(await thumb(at, "Good reply").count()).toBe(1);
  });
});
