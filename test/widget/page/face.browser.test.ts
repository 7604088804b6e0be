// For src/widget/view/panel-header.tsx, src/widget/view/welcome.tsx, src/widget/view/teaser.tsx,
// src/widget/view/message/steps.tsx, src/widget/styles/
import { describe } from "vitest";
import { violations } from "./axe.ts";
import { SOON, test } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { gate, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();
const page = (attributes: string, more = "") =>
  `${stage.site.url}/?attributes=${encodeURIComponent(attributes)}${more}`;

/** Colours as three numbers, from 0 to 255. */
const colourOf = (at: Visit, selector: string, name: string) =>
  at.tell<number[]>(`(() => {
    const colour = getComputedStyle(agent.shadowRoot.querySelector("${selector}"))["${name}"];
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  })()`);

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: readonly number[], other: readonly number[]): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe.concurrent("the face of <chat-agent>", () => {
  test("says who answers, greets in two lines, and offers messages in rows: by attribute, by property, after a reply", async ({
    expect,
    visit,
  }) => {
    const at = await visit(
      stage.browser,
      page(
        'heading="Mira" subheading="Of the shop" welcome="Ahoy!" welcome-text="What can I do?" suggestions="Red mugs | Blue mugs"',
      ),
    );
    await at.agent.locator(".launcher").click();
    const header = at.agent.locator(".header");
    await header.getByRole("heading", { name: "Mira" }).waitFor();
    await header.getByText("Of the shop").waitFor();
    await at.log.getByText("Ahoy!").waitFor();
    await at.log.getByText("What can I do?").waitFor();
    expect(await at.log.getByRole("button").allTextContents()).toEqual(["Red mugs", "Blue mugs"]);
    await at.tell("(agent.suggestions = ['Green mugs'], 0)");
    await at.log.getByRole("button", { name: "Green mugs" }).click();
    await at.log.getByText("You said: Green mugs").waitFor();
    await at.tell("(agent.followUps = ['How much?'], 0)");
    await at.log.getByRole("button", { name: "How much?" }).click();
    await at.log.getByText("You said: How much?").waitFor();
    await expect.poll(() => at.log.getByRole("button", { name: "How much?" }).count(), SOON).toBe(0);
    expect(await at.tell("agent.followUps.length")).toBe(0);
  });

  test("folds the steps of a finished reply, and what one says in several messages stands under one name", async ({
    expect,
    visit,
  }) => {
    stage.service.scripts.set("in steps", [
      [
        { type: "step", id: "a", phase: "done", text: "Searched the shop" },
        { type: "step", id: "b", phase: "failed", text: "Asked the warehouse" },
        ...reply("Found."),
      ],
    ]);
    const at = await visit(stage.browser, page(""));
    await at.say("in steps");
    await at.log.getByText("Found.").waitFor();
    const steps = at.log.locator("summary", { hasText: "2 steps" });
    await steps.waitFor();
    expect(await at.log.getByText("Searched the shop").isVisible()).toBe(false);
    await steps.click();
    await at.log.getByText("Searched the shop").waitFor();
    const threadId = await at.tell<string>("agent.threadId");
    stage.service.addHistory(threadId, "assistant", "One more thing.");
    await at.tell("agent.refresh()");
    await at.log.getByText("One more thing.").waitFor();
    expect(await at.log.locator(".author").count()).toBe(1);
  });

  test("is made larger and smaller by a button", async ({ expect, visit }) => {
    const at = await visit(stage.browser, page(""), { viewport: { width: 1_200, height: 900 } });
    await at.agent.locator(".launcher").click();
    await at.composer.waitFor();
    const width = async () => (await at.agent.locator(".panel").boundingBox())?.width ?? 0;
    const before = await width();
    await at.agent.getByRole("button", { name: "Make larger" }).click();
    await expect.poll(width, SOON).toBeGreaterThan(before + 200);
    await at.agent.getByRole("button", { name: "Make smaller" }).click();
    await expect.poll(width, SOON).toBe(before);
  });

  test.for([
    ["#e11d48", "light"],
    ["#e11d48", "dark"],
    ["yellow", "light"],
    ["yellow", "dark"],
    ["#777", "light"],
    ["#777", "dark"],
    ["black", "dark"],
    ["white", "light"],
  ] as const)(
    "text on %s, and of its colour, can be read in a %s panel",
    async ([accent, theme], { expect, visit }) => {
      stage.service.scripts.set(`in ${accent}`, [reply("See [the page](https://example.com).")]);
      const at = await visit(stage.browser, page(`theme="${theme}"`));
      await at.tell(`(agent.style.setProperty("--chat-agent-accent", "${accent}"), 0)`);
      await at.say(`in ${accent}`);
      await at.log.getByRole("link").waitFor();
      const bubble = [
        await colourOf(at, ".user-text", "color"),
        await colourOf(at, ".user-text", "backgroundColor"),
      ] as const;
      const link = [
        await colourOf(at, ".text a", "color"),
        await colourOf(at, ".panel", "backgroundColor"),
      ] as const;
      expect(contrast(...bubble)).toBeGreaterThan(4.5);
      expect(contrast(...link)).toBeGreaterThan(4.5);
    },
  );

  test("follows the page's color-scheme, and the browser's only if it is told to", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, page(""), { colorScheme: "dark" });
    await at.agent.locator(".launcher").click();
    await at.composer.waitFor();
    const isDark = async () => luminance(await colourOf(at, ".panel", "backgroundColor")) < 0.1;
    expect(await isDark()).toBe(false);
    await at.tell("(document.documentElement.style.colorScheme = 'light dark', 0)");
    await expect.poll(isDark, SOON).toBe(true);
    await at.tell("(document.documentElement.style.colorScheme = 'light', 0)");
    await expect.poll(isDark, SOON).toBe(false);
    await at.tell("(agent.setAttribute('theme', 'system'), 0)");
    await expect.poll(isDark, SOON).toBe(true);
  });

  test("shows what a person says beside the closed launcher and in a hidden tab's title, until somebody looks", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, page("", "&key=pk_people"));
    await at.say("Is somebody there?");
    await at.log.getByText("You said").waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    const threadId = await at.tell<string>("agent.threadId");
    stage.service.tell(threadId, { type: "state", state: "with_person", with: "Ann" });
    await at.agent.locator(".person").getByText("Ann answers you here.").waitFor();
    await at.agent.locator(".header").getByRole("heading", { name: "Ann" }).waitFor();
    await at.agent.getByRole("button", { name: "Close chat" }).first().click();
    const said = (id: number, content: string) => ({
      type: "message",
      item: {
        id: String(id),
        role: "assistant",
        content,
        createdAt: Date.now(),
        author: { type: "person", name: "Ann" },
      },
    });
    stage.service.tell(threadId, said(3, "Yes, **I** am."));
    const teaser = at.agent.locator(".teaser");
    await teaser.getByText("Yes, I am.").waitFor();
    expect(await violations(at)).toEqual([]);
    await teaser.getByRole("button", { name: "Dismiss" }).click();
    await expect.poll(() => teaser.count(), SOON).toBe(0);

    const title = await at.page.title();
    await at.tell(
      `(Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true }), 0)`,
    );
    stage.service.tell(threadId, said(4, "Still here."));
    await expect.poll(() => at.page.title(), SOON).toBe(`(2) ${title}`);
    await at.tell(
      `(delete document.visibilityState, document.dispatchEvent(new Event("visibilitychange")), 0)`,
    );
    expect(await at.page.title()).toBe(title);
    await teaser.getByText("Still here.").click();
    await at.log.getByText("Still here.").waitFor();
    expect(at.troubles).toEqual([]);
  });
});

test("code says its language, numbers in tables stay in one line, and formulas are shown where the page wants them", async ({
  expect,
  visit,
}) => {
  const said =
    "```ts\nlet x;\n```\n\n| a | price |\n|---|---|\n| b | 1 250.00 € |\n\nSo \\(a^2+b^2\\), and\n\n$$\\frac{1}{2}$$\n\nbut $5 and $6, \\(\\href{https://example.com}{x_1}\\)";
  stage.service.scripts.set("richly", [reply(said)]);
  const at = await visit(stage.browser, page("formulas"));
  await at.say("richly");
  await at.log.locator("math mfrac").waitFor();
  expect(await at.log.locator("math").count()).toBe(2);
  expect(await at.log.locator("math[display=block]").count()).toBe(1);
  expect(await at.log.locator(".text a").count()).toBe(0);
  await at.log.getByText("but $5 and $6").waitFor();
  expect(await at.log.locator(".language").textContent()).toBe("ts");
  expect(await at.log.locator("td.number").allTextContents()).toEqual(["1 250.00 €"]);
  expect(await violations(at)).toEqual([]);
  expect(at.troubles).toEqual([]);
});

test("a text that is queued during a reply that breaks off is sent after the retry", async ({
  expect,
  visit,
}) => {
  const at = await visit(stage.browser, page(""));
  const rest = gate();
  stage.service.scripts.set("breaks off", [
    [{ type: "delta", text: "Well" }, rest, { type: "error", message: "Broken" }],
  ]);
  await at.say("breaks off");
  await at.log.getByText("Well").waitFor();
  await at.composer.fill("and then");
  await at.composer.press("Enter");
  rest.open();
  await at.log.getByText("Something went wrong.").waitFor();
  stage.service.scripts.set("breaks off", [reply("Whole.")]);
  await at.log.getByRole("button", { name: "Try again" }).click();
  await at.log.getByText("You said: and then").waitFor();
  expect(await at.composer.inputValue()).toBe("");
});

test("what is dictated stands behind what is written, where the page allows it and the browser can", async ({
  expect,
  visit,
}) => {
  const at = await visit(stage.browser, page("dictation"));
  await at.tell(`(window.SpeechRecognition = window.webkitSpeechRecognition = class {
    start() { window.hears = this; }
    stop() { this.onend(); }
  }, 0)`);
  await at.agent.locator(".launcher").click();
  await at.composer.fill("I want");
  const button = at.agent.getByRole("button", { name: "Dictate" });
  await button.click();
  await button.and(at.page.locator("[aria-pressed=true]")).waitFor();
  await at.tell(
    `(window.hears.onresult({ results: [[{ transcript: "a red" }], [{ transcript: " mug" }]] }), 0)`,
  );
  await expect.poll(() => at.composer.inputValue(), SOON).toBe("I want a red mug");
  await button.click();
  await button.and(at.page.locator("[aria-pressed=false]")).waitFor();
});
