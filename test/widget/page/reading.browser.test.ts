// For src/widget/view/, src/widget/view/markdown/
import { describe } from "vitest";
import { SOON, test } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { gate, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

/** A style of the first thing that a selector finds in the element. */
const styleOf = (at: Visit, selector: string, name: string) =>
  at.tell<string>(`getComputedStyle(agent.shadowRoot.querySelector("${selector}"))["${name}"]`);

describe.concurrent("what is read in <chat-agent>", () => {
  test("code runs from left to right in an Arabic reply, and can be copied", async ({ expect, visit }) => {
    stage.service.scripts.set("code", [reply("مرحبا بكم جميعا `a.b()`\n\n```\nlet x = (1 + 2);\n```\n")]);
    const at = await visit(stage.browser, `${stage.site.url}/?lang=ar`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await at.say("code");
    const copy = at.agent.getByRole("button", { name: "نسخ" }).first();
    await copy.waitFor();
    expect(await styleOf(at, ".text", "direction")).toBe("rtl");
    expect(await styleOf(at, ".text p code", "direction")).toBe("ltr");
    expect(await styleOf(at, "pre", "direction")).toBe("ltr");
    await copy.click();
    await at.agent.getByText("تم النسخ").waitFor();
    expect(await at.tell("navigator.clipboard.readText()")).toBe("let x = (1 + 2);");
    expect(at.troubles).toEqual([]);
  });

  test("a link tells the page, which may follow it itself", async ({ expect, visit }) => {
    stage.service.scripts.set("link", [reply("See [the shelf](/shelf) or [them](https://example.com/x).")]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("link");
    const [own, other] = [
      at.agent.getByRole("link", { name: "the shelf" }),
      at.agent.getByRole("link", { name: "them" }),
    ];
    await other.waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    expect([await own.getAttribute("target"), await own.getAttribute("rel")]).toEqual([null, null]);
    expect(await other.getAttribute("target")).toBe("_blank");
    await at.tell(
      "agent.addEventListener('chat-agent:link', (event) => event.preventDefault(), { once: true })",
    );
    await own.click();
    expect(await at.events("link")).toEqual([{ href: `${stage.site.url}/shelf` }]);
    expect(at.page.url()).toBe(`${stage.site.url}/`);
    await own.click();
    await at.page.waitForURL("**/shelf");
  });

  test("the counter says what is too much, and send() refuses it", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.agent.locator(".launcher").click();
    await at.composer.fill("x".repeat(3_000));
    await at.agent.getByText("1000 characters too many").waitFor();
    await expect(at.tell("agent.send('x'.repeat(2001))")).rejects.toThrow("Cannot send: 2001 characters");
    await at.tell("(agent.draft = 'From the page', 0)");
    await expect.poll(() => at.composer.inputValue(), SOON).toBe("From the page");
    expect(await at.tell("agent.draft")).toBe("From the page");
  });

  test("an Enter during a reply is sent after it", async ({ expect, visit }) => {
    const rest = gate();
    stage.service.scripts.set("first", [[{ type: "delta", text: "One " }, rest, ...reply("two.")]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("first");
    await at.log.getByText("One").waitFor();
    await at.say("second");
    await at.agent.getByText("Will be sent after this answer.").waitFor();
    expect(stage.service.said("second")).toEqual([]);
    rest.open();
    await at.log.getByText("You said: second").waitFor();
    expect(await at.composer.inputValue()).toBe("");
  });

  test("says when it was said, and where the model cut it off", async ({ expect, visit }) => {
    stage.service.scripts.set("long", [
      [
        { type: "delta", text: "And then" },
        { type: "done", elapsedMs: 1, finishReason: "length" },
      ],
    ]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("long");
    await at.log.getByText("The answer was cut off here.").waitFor();
    await expect.poll(() => at.log.locator("time").count(), SOON).toBe(2);
    expect(await at.log.locator("time").first().textContent()).toMatch(/^\d\d:\d\d$/);
  });

  test("is not printed over the page, and its field is large enough for a phone", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`, {
      hasTouch: true,
      isMobile: true,
      viewport: { width: 390, height: 780 },
    });
    await at.agent.locator(".launcher").click();
    await at.composer.waitFor();
    expect(parseFloat(await styleOf(at, "textarea", "fontSize"))).toBeGreaterThanOrEqual(16);
    await at.page.emulateMedia({ media: "print" });
    expect(await at.tell("getComputedStyle(agent).display")).toBe("none");
  });

  test("is drawn in a hidden tab too, which has no frames", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.agent.locator(".launcher").click();
    await at.composer.waitFor();
    await at.page.evaluate(`{
      window.requestAnimationFrame = () => 1;
      Object.defineProperty(document, "visibilityState", { value: "hidden" });
    }`);
    await at.tell("(agent.draft = 'Behind the scenes', 0)");
    expect(await at.tell("agent.shadowRoot.querySelector('textarea').value")).toBe("Behind the scenes");
  });

  test("::part(user) is the visitor's bubble, icons have parts, and what the page puts below has room", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.tell(`(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("chat-agent::part(user) { background: rgb(1, 2, 3) } chat-agent::part(close) { color: rgb(4, 5, 6) }");
      document.adoptedStyleSheets = [sheet];
    })()`);
    await at.say("a bubble");
    await at.log.getByText("You said: a bubble").waitFor();
    expect(await styleOf(at, ".user-text", "backgroundColor")).toBe("rgb(1, 2, 3)");
    expect(await styleOf(at, ".header .plain:last-child", "color")).toBe("rgb(4, 5, 6)");
    await at.tell(
      "agent.append(Object.assign(document.createElement('p'), { slot: 'footer', textContent: 'By Shop' }))",
    );
    await at.agent.getByText("By Shop").waitFor();
    const footer = "getComputedStyle(agent.querySelector('[slot=footer]')).paddingInlineStart";
    expect(await at.tell(footer)).toBe("20px");
  });
});

test("W1, W4, W8: bold beside CJK, formulae as written, and links that open no empty tab", async ({
  expect,
  visit,
}) => {
  const said =
    "これは**「重要」**です。\n\n**注意：**正文\n\n\\(a^2+b^2\\) and $$\\frac{1}{2}$$ costs $5 and $6\n\n[write](mailto:a@example.com) [call](tel:+3612345678) [read](https://example.com/)";
  stage.service.scripts.set("in all languages", [reply(said)]);
  const at = await visit(stage.browser, `${stage.site.url}/`);
  await at.say("in all languages");
  await at.log.getByRole("link", { name: "read" }).waitFor();
  expect(await at.log.locator("strong").allTextContents()).toEqual(["「重要」", "注意："]);
  expect(await at.log.locator("p", { hasText: "frac" }).textContent()).toBe(
    "\\(a^2+b^2\\) and $$\\frac{1}{2}$$ costs $5 and $6",
  );
  const targets = await at.log
    .locator("a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("target")));
  expect(targets).toEqual([null, null, "_blank"]);
});

test("a page that knows scripts by a nonce alone, and no host, has the second file too", async ({
  expect,
  visit,
}) => {
  stage.service.scripts.set("boldly", [reply("So it is **bold**.")]);
  const at = await visit(stage.browser, `${stage.site.url}/?nonce=1`);
  await at.say("boldly");
  await at.log.locator("strong", { hasText: "bold" }).waitFor();
  expect(at.troubles).toEqual([]);
});

test("a second file that is not the one that the script was built with is not run, the panel says so, and tries again", async ({
  expect,
  visit,
}) => {
  const at = await visit(stage.browser, `${stage.site.url}/file`);
  const second = "**/chat-agent-panel.*.mjs";
  await at.page.route(second, async (route) => {
    const response = await route.fetch();
    const body = `window.tampered = true;\n${await response.text()}`;
    await route.fulfill({ response, body, headers: { ...response.headers(), "cache-control": "no-store" } });
  });
  await at.page.goto(`${stage.site.url}/`);
  await at.agent.locator(".launcher").click();
  await at.agent.getByRole("alert").getByText("Something went wrong.").waitFor();
  expect(await at.tell("window.tampered")).toBe(undefined);
  await at.page.unroute(second);
  await at.agent.getByRole("button", { name: "Try again" }).click();
  await at.composer.waitFor();
});

test("a panel whose second file is slow has its place and its name at once, and the file is loaded by a pointer that comes near", async ({
  expect,
  visit,
}) => {
  const at = await visit(stage.browser, `${stage.site.url}/file`);
  const isAsked = gate();
  const mayCome = gate();
  await at.page.route("**/chat-agent-panel.*.mjs", async (route) => {
    isAsked.open();
    await mayCome.opened;
    await route.continue();
  });
  await at.page.goto(`${stage.site.url}/`);
  const channels = () => stage.service.asked.filter(({ path }) => path.endsWith("/channel")).length;
  const before = channels();
  await at.agent.locator(".launcher").hover();
  await isAsked.opened;
  expect(channels()).toBe(before);
  await at.agent.locator(".launcher").click();
  const panel = at.agent.getByRole("dialog", { name: "Chat" });
  await panel.and(at.page.locator("[aria-busy=true]")).waitFor();
  await panel.getByRole("button", { name: "Close chat" }).waitFor();
  mayCome.open();
  await at.composer.waitFor();
  await expect.poll(() => at.tell("agent.shadowRoot.activeElement?.localName"), SOON).toBe("textarea");
});
