// For src/widget/view/confirmation-card.tsx, src/widget/run/tab/confirm-call.ts
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe } from "vitest";
import { launchBrowser, SOON, test } from "../browser.ts";
import { called, call, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();
let native: Browser;

beforeAll(async () => {
  native = await launchBrowser({ webMcp: true });
});

afterAll(async () => {
  await native.close();
});

describe.concurrent.each(["property", "polyfill", "native"] as const)("a tool (%s)", (source) => {
  test.for(["is_consequential", "is_destructive"])(
    "marked as %s asks first, where the page asks for nothing else",
    async (tool, { expect, visit }) => {
      const said = `${tool} from ${source}`;
      stage.service.scripts.set(said, [
        call(tool, { word: "all \u202eof it" }),
        [called(tool), ...reply("Over.")],
      ]);
      const browser = source === "native" ? native : stage.browser;
      const at = await visit(browser, `${stage.site.url}/?tools=${source}`);
      await at.say(said);
      const card = at.agent.getByRole("group", { name: "Allow this action?" });
      await card.getByText("all \ufffdof it").waitFor();
      expect(await at.tell("window.calls")).toEqual([]);
      await card.getByRole("button", { name: "Allow", exact: true }).click();
      await at.log.getByText("Over.").waitFor();
      expect(await at.tell("window.calls")).toEqual([tool]);
    },
  );
});

describe.concurrent("a question that waits", () => {
  const focused = "agent.shadowRoot.activeElement?.className ?? document.activeElement.localName";

  test("has the focus; Escape closes the panel, and the launcher says that it waits", async ({
    expect,
    visit,
  }) => {
    stage.service.scripts.set("ask me", [
      call("is_consequential"),
      [called("is_consequential"), ...reply("Over.")],
    ]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("ask me");
    await expect.poll(() => at.tell(focused), SOON).toBe("confirm");
    // Typed by a visitor who was in the middle of a word.
    await at.page.keyboard.press("Enter");
    await at.page.keyboard.press("Space");
    expect(await at.tell("window.calls")).toEqual([]);
    await at.page.keyboard.press("Escape");
    await at.agent.locator(".badge", { hasText: "?" }).waitFor();
    const launcher = at.agent.getByRole("button", { name: "Open chat: a question waits for you" });
    await launcher.waitFor();
    await expect.poll(() => at.tell(focused), SOON).toBe("launcher");
    await at.page.keyboard.press("Enter");
    await expect.poll(() => at.tell(focused), SOON).toBe("confirm");
    await at.page.keyboard.press("Tab");
    await at.page.keyboard.press("Enter");
    await at.log.getByText("Over.").waitFor();
    await expect.poll(() => at.tell("agent.shadowRoot.activeElement?.localName"), SOON).toBe("textarea");
    expect(await at.agent.locator(".badge").count()).toBe(0);
  });

  test("has the focus in a shadow root of the page, too, and speaks the page's language", async ({
    expect,
    visit,
  }) => {
    stage.service.scripts.set("ask in the shadow", [call("is_consequential"), reply("Over.")]);
    const at = await visit(stage.browser, `${stage.site.url}/?lang=de`);
    await at.tell(`(() => {
      window.inner = agent;
      const box = document.createElement("div");
      box.attachShadow({ mode: "open" }).append(document.createElement("input"), agent);
      document.body.append(box);
    })()`);
    const ask = async () => {
      await at.composer.fill("ask in the shadow");
      await at.composer.press("Enter");
    };
    const inside = "inner.shadowRoot.activeElement?.className ?? null";
    await at.agent.getByRole("button", { name: "Chat öffnen" }).click();
    await ask();
    await expect.poll(() => at.page.evaluate(inside), SOON).toBe("confirm");
    await at.agent.getByRole("button", { name: "Ablehnen" }).click();
    await at.log.getByText("Over.").waitFor();
    // Beside the chat, in the same shadow root.
    await ask();
    await at.page.locator("div > input").focus();
    await at.agent.locator(".confirm").waitFor();
    expect(await at.page.evaluate(inside)).toBe(null);
  });

  test("takes the focus from nothing on the page", async ({ expect, visit }) => {
    stage.service.scripts.set("ask later", [call("is_consequential"), reply("Over.")]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.agent.locator(".launcher").click();
    await at.composer.waitFor();
    await at.page.getByLabel("Wish").focus();
    await at.tell("void agent.send('ask later')");
    await at.agent.getByRole("group", { name: "Allow this action?" }).waitFor();
    expect(await at.tell("document.activeElement.name")).toBe("wish");
  });
});
