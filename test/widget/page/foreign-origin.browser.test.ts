// For src/widget/run/, src/widget/service/read-channel.ts
import { describe } from "vitest";
import { SOON, test } from "../browser.ts";
import { openStage } from "../stage.ts";

const stage = openStage();
const SAYS = "This chat is not set up correctly.";

describe("H1: a page whose origin is not among the channel's", () => {
  test("is told so when the panel opens, its owner with what to add, and a message does not wait", async ({
    expect,
    visit,
  }) => {
    stage.service.foreign.add("pk_foreign");
    const at = await visit(stage.browser, `${stage.site.url}/?key=pk_foreign`);
    const warnings: string[] = [];
    at.page.on("console", (message) => {
      if (message.type() === "warning") warnings.push(message.text());
    });
    await at.agent.locator(".launcher").click();
    await at.agent.locator(".banner", { hasText: SAYS }).waitFor();
    expect(await at.tell("agent.state")).toBe("blocked");
    expect(warnings).toEqual([
      `chat-agent: the channel does not allow this page's origin, ${stage.site.url}. Add it: chat-agent channels update SLUG --add-origin ${stage.site.url}`,
    ]);
    await at.say("is somebody there?");
    await at.log.getByText(SAYS).waitFor();
    expect(await at.tell("agent.state")).toBe("blocked");
    const asked = stage.service.asked.filter(({ path }) => path === "/visitors");
    expect(asked).toHaveLength(1);
    const states = await at.events("state");
    // A message that waits to be sent again stays in "sending".
    expect(states.at(-1)).toEqual({ state: "blocked" });
  });

  test("works once the origin is allowed, and the panel is opened again", async ({ expect, visit }) => {
    stage.service.foreign.add("pk_mended");
    const at = await visit(stage.browser, `${stage.site.url}/?key=pk_mended`);
    await at.agent.locator(".launcher").click();
    await at.agent.locator(".banner", { hasText: SAYS }).waitFor();
    stage.service.foreign.delete("pk_mended");
    await at.tell("agent.hide()");
    await at.tell("agent.show()");
    await at.agent.locator(".banner").waitFor({ state: "detached" });
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    await at.say("and now?");
    await at.log.getByText("You said: and now?").waitFor();
  });
});
