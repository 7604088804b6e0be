// For src/widget/page-conversation.ts, src/widget/chat-agent.ts
import { describe } from "vitest";
import { SOON, test } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { called, call, gate, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

const SAID = "One two three four five six seven.";

/** How a page puts a new element in the place of the one that is there, in the middle of a run. */
const PAGES: { name: string; query: string; replace: (at: Visit) => Promise<unknown> }[] = [
  {
    name: "React 19 in StrictMode",
    query: "?in=react",
    replace: async (at) => {
      await at.tell("remount()");
      await at.page.getByRole("heading", { name: "View 1" }).waitFor();
    },
  },
  {
    name: "React 19 in StrictMode, in an effect",
    query: "?in=react&effect=1",
    replace: async (at) => {
      await at.tell("remount()");
      await at.page.getByRole("heading", { name: "View 1" }).waitFor();
    },
  },
  {
    name: "Turbo 8",
    query: "?in=turbo",
    replace: async (at) => {
      await at.tell("void Turbo.visit('/next?in=turbo')");
      await at.page.waitForURL("**/next?in=turbo");
      await at.page.waitForFunction("document.title === 'Page /next'");
    },
  },
  {
    name: "a script that moves the element",
    query: "?",
    replace: (at) => at.tell("document.querySelector('h1').after(agent)"),
  },
];

describe.concurrent.each(PAGES)("on a page of $name", ({ name, query, replace }) => {
  test("a new element goes on with the reply at once, and each event comes once", async ({
    expect,
    visit,
  }) => {
    const words = reply(SAID);
    const rest = gate();
    stage.service.scripts.set(`stream ${name}`, [[...words.slice(0, 2), rest, ...words.slice(2)]]);
    const at = await visit(stage.browser, `${stage.site.url}/${query}`);
    await at.agent.locator(".launcher").waitFor();
    await at.say(`stream ${name}`);
    await at.log.getByText("One two").waitFor();
    await replace(at);
    await at.log.getByText("One two").waitFor();
    expect(await at.tell("agent.state")).toBe("streaming");
    rest.open();
    await at.log.getByText(SAID).waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(2);
    expect((await at.events("message")).map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(await at.events("done")).toHaveLength(1);
    expect(at.troubles).toEqual([]);
  });

  test("a new element asks what the one before it asked, and the tool runs once", async ({
    expect,
    visit,
  }) => {
    stage.service.scripts.set(`ask ${name}`, [
      call("is_consequential"),
      [called("is_consequential"), ...reply("Done for good.")],
    ]);
    const at = await visit(stage.browser, `${stage.site.url}/${query}`);
    await at.agent.locator(".launcher").waitFor();
    await at.say(`ask ${name}`);
    await at.agent.getByRole("button", { name: "Decline" }).waitFor();
    await replace(at);
    await at.agent.getByRole("button", { name: "Allow", exact: true }).click();
    await at.log.getByText("Done for good.").waitFor();
    expect(await at.tell("window.calls")).toEqual(["is_consequential"]);
    expect(await at.events("before-tool")).toHaveLength(1);
    expect(await at.events("tool-result")).toHaveLength(1);
  });
});

test.for(["null", "undefined"])(
  "a page in React that gives %s in the place of its properties has their defaults",
  async (nothing, { expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/?in=react`);
    await at.agent.locator(".launcher").click();
    const names = ["tools", "toolFilter", "context", "suggestions", "strings", "draft"];
    const given = {
      toolFilter: "() => false",
      context: "{ plan: 'gold' }",
      suggestions: "['Soon']",
      strings: "{ send: 'Go' }",
      draft: "'Hm'",
    };
    const objectOf = (fields: [string, string][]) =>
      `({ ${fields.map(([name, value]) => `${name}: ${value}`).join(", ")} })`;
    await at.tell(`give(${objectOf(Object.entries(given))})`);
    await at.agent.getByRole("button", { name: "Soon" }).waitFor();
    await at.tell(`give(${objectOf(names.map((name) => [name, nothing]))})`);
    await expect.poll(() => at.agent.getByRole("button", { name: "Soon" }).count(), SOON).toBe(0);
    await expect.poll(() => at.composer.inputValue(), SOON).toBe("");
    await at.say(`with ${nothing}`);
    await at.log.getByText(`You said: with ${nothing}`).waitFor();
    const [said] = stage.service.asked.filter(({ body }) => body["text"] === `with ${nothing}`);
    expect(said?.body).not.toHaveProperty("customerContext");
    expect(at.troubles).toEqual([]);
  },
);

test("what a server rendered is hydrated: the tools are those of its effect, and nothing differs, also where the panel is open", async ({
  expect,
  visit,
}) => {
  stage.service.scripts.set("hydrate", [
    call("returns", { word: "it" }),
    [called("returns"), ...reply(SAID)],
  ]);
  const at = await visit(stage.browser, `${stage.site.url}/?in=hydrated`);
  await at.page.waitForFunction("window.isHydrated");
  await at.say("hydrate");
  await at.log.getByText(SAID).waitFor();
  expect(await at.tell("window.calls")).toEqual(["returns"]);
  await at.page.reload();
  await at.page.waitForFunction("window.isHydrated");
  await at.log.getByText(SAID).waitFor();
  expect(await at.tell("agent.hasAttribute('open')")).toBe(true);
  expect(at.troubles).toEqual([]);
});
