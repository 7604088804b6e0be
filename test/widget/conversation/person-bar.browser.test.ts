// For src/widget/run/thread/person-watch.ts, src/widget/view/people/person-bar.tsx
import { describe } from "vitest";
import { SOON, test } from "../browser.ts";
import { openStage } from "../stage.ts";

const stage = openStage();
const PEOPLE = "key=pk_people";

describe.concurrent("the bar that tells who answers", () => {
  test("asks for a person, who is waited for, comes, writes, and leaves the assistant back", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/?${PEOPLE}`);
    await at.agent.locator(".launcher").click();
    const [bar, ask] = [at.agent.locator(".person"), at.agent.locator(".person button")];
    await at.agent.getByRole("button", { name: "Talk to a person" }).press("Enter");
    await bar.getByText("Waiting for a person…").waitFor();
    await bar
      .locator(".waited")
      .filter({ hasText: /^0:\d\d$/ })
      .waitFor();
    await ask.filter({ hasText: "Stop waiting" }).press("Enter");
    await bar.getByText("The assistant answers again.").waitFor();
    await at.agent.getByRole("button", { name: "Talk to a person" }).press("Enter");
    await bar.getByText("Waiting for a person…").waitFor();

    const threadId = await at.tell<string>("agent.threadId");
    const tell = (line: object) => stage.service.tell(threadId, line);
    tell({ type: "state", state: "with_person", with: "Ann <b>" });
    await bar.getByText("Ann <b> answers you here.").waitFor();
    expect(await ask.count()).toBe(0);
    tell({ type: "typing", name: "Ann <b>" });
    await bar.getByText("Ann <b> is writing…").waitFor();
    const author = { type: "person", name: "Ann <b>" };
    const item = { id: "1", role: "assistant", content: "Here I am", createdAt: Date.now(), author };
    tell({ type: "message", item });
    await at.log.getByText("Here I am").waitFor();
    await at.log.getByText("Ann <b>").waitFor();
    await bar.getByText("Ann <b> answers you here.").waitFor();
    tell({ type: "state", state: "idle" });
    await bar.getByText("The assistant answers again.").waitFor();
    const since = expect.any(Number) as number;
    const assistant = { waitingSince: null, name: null };
    expect(await at.events("person")).toEqual([
      { waitingSince: since, name: null },
      assistant,
      { waitingSince: since, name: null },
      { waitingSince: null, name: "Ann <b>" },
      assistant,
    ]);
    expect(at.troubles).toEqual([]);
  });

  test("speaks the page's language, and is not there where the channel has nobody", async ({
    expect,
    visit,
  }) => {
    const german = await visit(stage.browser, `${stage.site.url}/?${PEOPLE}&lang=de`);
    await german.agent.locator(".launcher").click();
    await german.agent.getByRole("button", { name: "Mit einem Menschen sprechen" }).press("Enter");
    await german.agent.getByText("Warten auf einen Menschen…").waitFor();
    await german.agent.getByRole("button", { name: "Nicht mehr warten" }).waitFor();
    const without = await visit(stage.browser, `${stage.site.url}/`);
    await without.say("hello");
    await without.log.getByText("You said: hello").waitFor();
    await expect.poll(() => without.tell("agent.state"), SOON).toBe("idle");
    expect(await without.agent.locator(".person").count()).toBe(0);
  });

  test("outside the hours says when somebody is there again, by the visitor's clock, and offers nobody", async ({
    expect,
    visit,
  }) => {
    const options = { timezoneId: "America/New_York" };
    const at = await visit(stage.browser, `${stage.site.url}/?key=pk_away&lang=de`, options);
    await at.agent.locator(".launcher").click();
    await at.agent.getByText(/^Jemand ist wieder da: Montag, 30\. November um 0?3:00/).waitFor();
    expect(await at.agent.locator(".person button").count()).toBe(0);
    expect(at.troubles).toEqual([]);
  });
});
