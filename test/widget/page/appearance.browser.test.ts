// For src/widget/view/, src/widget/strings/
import { describe } from "vitest";
import { violations } from "./axe.ts";
import { SOON, test } from "../browser.ts";
import { call, called, gate, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

describe.concurrent("<chat-agent> to everybody", () => {
  test.for(["light", "dark"] as const)(
    "axe finds nothing wrong, closed and open, in %s",
    async (colorScheme, { expect, visit }) => {
      stage.service.scripts.set(`axe ${colorScheme}`, [
        [
          { type: "step", id: "a", phase: "done", text: "Looked it up" },
          { type: "step", id: "b", phase: "failed", text: "Did not get through" },
          ...reply(
            "# Title\n\nText with `code`, [a link](https://example.com).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n",
          ),
        ],
      ]);
      const at = await visit(stage.browser, `${stage.site.url}/`, { colorScheme, reducedMotion: "reduce" });
      await at.agent.locator(".launcher").waitFor();
      expect(await violations(at)).toEqual([]);
      await at.say(`axe ${colorScheme}`);
      await at.log.getByText("Text with").waitFor();
      await at.composer.fill("x".repeat(1_950));
      expect(await violations(at)).toEqual([]);
      await at.composer.fill("");
      stage.service.scripts.set(`ask ${colorScheme}`, [
        call("is_consequential", { word: "all" }),
        reply("Ok."),
      ]);
      await at.say(`ask ${colorScheme}`);
      await at.agent.getByRole("button", { name: "Decline" }).waitFor();
      expect(await violations(at)).toEqual([]);
    },
  );

  test("works by keyboard alone, and leaves the focus where a keyboard expects it", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.agent.locator(".launcher").focus();
    await at.page.keyboard.press("Enter");
    await at.composer.waitFor();
    const focused = () =>
      at.tell<string>("agent.shadowRoot.activeElement?.localName ?? document.activeElement.localName");
    await expect.poll(focused, SOON).toBe("textarea");
    await at.page.keyboard.type("by keys");
    await at.page.keyboard.press("Shift+Enter");
    await at.page.keyboard.type("alone");
    await at.page.keyboard.press("Enter");
    await at.log.getByText("You said: by keys").waitFor();
    await at.page.keyboard.press("Escape");
    expect(await at.tell("agent.open")).toBe(false);
    await expect.poll(focused, SOON).toBe("button");
  });

  test.for([
    ["Chromium and Firefox", { isComposing: true }],
    ["Safari", { keyCode: 229 }],
  ] as const)(
    "an Enter that ends a composition is no send, as %s tells it",
    async ([, told], { expect, visit }) => {
      const at = await visit(stage.browser, `${stage.site.url}/`);
      await at.agent.locator(".launcher").click();
      await at.composer.fill("にほん");
      await at.composer.evaluate((node, more) => {
        const view = globalThis as unknown as { KeyboardEvent: new (type: string, init: object) => Event };
        const init = { key: "Enter", bubbles: true, cancelable: true, ...more };
        node.dispatchEvent(new view.KeyboardEvent("keydown", init));
      }, told);
      expect(await at.composer.inputValue()).toBe("にほん");
      await expect.poll(() => at.log.locator(".user").count(), SOON).toBe(0);
    },
  );

  test("speaks steps and finished answers, and not the stream as it grows", async ({ expect, visit }) => {
    const words = reply("A finished answer.");
    const rest = gate();
    stage.service.scripts.set("speak", [[...words.slice(0, 1), rest, ...words.slice(1)]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("speak");
    await at.log.getByText("A finished").waitFor();
    const status = at.agent.locator("[role=status].unseen");
    expect(await status.textContent()).toBe("");
    rest.open();
    await expect.poll(() => status.textContent(), SOON).toBe("A finished answer.");
    expect(await at.log.getAttribute("aria-live")).toBe("off");
  });

  test("speaks an answer without its marks, also one like the answer before", async ({ expect, visit }) => {
    const rest = gate();
    const words = reply("**Two** [shelves](https://example.com/x):\n\n- `a`\n- b\n\n```\nlet x;\n```");
    const spoken = "Two shelves: a b let x;";
    stage.service.scripts.set("speak plainly", [words]);
    stage.service.scripts.set("speak again", [[rest, ...words]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    const status = at.agent.locator("[role=status].unseen");
    await at.say("speak plainly");
    await expect.poll(() => status.textContent(), SOON).toBe(spoken);
    await at.say("speak again");
    await expect.poll(() => status.textContent(), SOON).toBe("");
    rest.open();
    await expect.poll(() => status.textContent(), SOON).toBe(spoken);
  });

  test("reads from right to left in Arabic, on the other side of the page", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/?lang=ar`, {
      viewport: { width: 1_200, height: 800 },
    });
    await at.agent.getByRole("button", { name: "افتح المحادثة" }).click();
    await at.composer.waitFor();
    const panel = await at.agent.locator(".panel").boundingBox();
    expect(panel?.x).toBeLessThan(100);
    expect(await at.composer.getAttribute("placeholder")).toBe("اكتب رسالة");
  });

  test("speaks twelve languages, and English to everybody else", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    for (const [lang, open] of [
      ["de", "Chat öffnen"],
      ["fr-CA", "Ouvrir la discussion"],
      ["es", "Abrir el chat"],
      ["it", "Apri la chat"],
      ["pl-PL", "Otwórz czat"],
      ["pt-BR", "Abrir o chat"],
      ["ar", "افتح المحادثة"],
      ["nl-BE", "Chat openen"],
      ["tr", "Sohbeti aç"],
      ["ja-JP", "チャットを開く"],
      ["zh-Hans-CN", "打开聊天"],
      ["tlh", "Open chat"],
    ]) {
      await at.tell(`agent.setAttribute("lang", "${lang}")`);
      const label = () => at.agent.locator(".launcher").getAttribute("aria-label");
      await expect.poll(label, SOON).toBe(open);
    }
  });

  test("stands on the side that position names, as the language counts sides", async ({ expect, visit }) => {
    const viewport = { width: 1_200, height: 800 };
    const start = encodeURIComponent('position="start"');
    const at = await visit(stage.browser, `${stage.site.url}/?attributes=${start}`, { viewport });
    const left = async () => (await at.agent.locator(".launcher").boundingBox())?.x ?? -1;
    expect(await left()).toBe(20);
    await at.tell('agent.setAttribute("lang", "ar")');
    await expect.poll(left, SOON).toBeGreaterThan(1_100);
    await at.agent.locator(".launcher").click();
    const panel = await at.agent.locator(".panel").boundingBox();
    expect(panel?.x).toBeGreaterThan(700);
  });

  test("makes room for the page on a phone while a tool runs", async ({ expect, visit }) => {
    stage.service.scripts.set("make room", [call("is_slow"), reply("Never.")]);
    const at = await visit(stage.browser, `${stage.site.url}/`, { viewport: { width: 380, height: 780 } });
    await at.agent.locator(".launcher").click();
    const height = async () => (await at.agent.locator(".panel").boundingBox())?.height ?? 0;
    await expect.poll(height, SOON).toBeGreaterThan(600);
    await at.composer.fill("make room");
    await at.composer.press("Enter");
    await expect.poll(height, SOON).toBeLessThan(380);
  });

  test.for([
    ["a small phone", { width: 320, height: 568 }],
    ["a page enlarged to 200 %", { width: 640, height: 360 }],
    ["a page enlarged to 400 %", { width: 320, height: 256 }],
  ] as const)(
    "a long question can be read and answered on %s",
    async ([name, viewport], { expect, visit }) => {
      const said = `ask on ${name}`;
      stage.service.scripts.set(said, [
        call("is_consequential", { word: "Order twelve mugs. ".repeat(15) }),
        [called("is_consequential"), ...reply("Over.")],
      ]);
      const at = await visit(stage.browser, `${stage.site.url}/`, { viewport });
      await at.say(said);
      const card = at.agent.locator(".confirm");
      await card.waitFor();
      const place = async (selector: string) => {
        const box = await at.agent.locator(selector).boundingBox();
        return { top: box?.y ?? NaN, bottom: (box?.y ?? NaN) + (box?.height ?? NaN) };
      };
      const [panel, log, question, composer] = [
        await place(".panel"),
        await place(".middle"),
        await place(".confirm"),
        await place(".composer"),
      ];
      expect(panel.top).toBeGreaterThanOrEqual(0);
      expect(log.bottom).toBeLessThanOrEqual(question.top + 1);
      // Its title and some of its words.
      expect(question.bottom - question.top).toBeGreaterThan(100);
      expect(question.bottom).toBeLessThanOrEqual(composer.top + 1);
      expect(composer.bottom).toBeLessThanOrEqual(viewport.height);
      const decline = at.agent.getByRole("button", { name: "Decline" });
      // Where there is room its buttons are seen without scrolling.
      if (viewport.height > 480) {
        const button = await decline.boundingBox();
        expect((button?.y ?? NaN) + (button?.height ?? NaN)).toBeLessThanOrEqual(question.bottom);
      }
      await decline.click();
      await at.log.getByText("Over.").waitFor();
    },
  );

  test("stands above whatever the page puts on top, and stays below a modal dialog", async ({
    expect,
    visit,
  }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    const onTop = () =>
      at.tell<string>(
        "(() => { const box = agent.shadowRoot.querySelector('.launcher').getBoundingClientRect(); return document.elementFromPoint(box.x + 20, box.y + 20).localName; })()",
      );
    await at.tell(`(() => {
      const cover = document.createElement("aside");
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("aside { position: fixed; inset: 0; z-index: 2147483647; background: #0008 }");
      document.adoptedStyleSheets = [sheet];
      document.body.append(cover);
    })()`);
    expect(await onTop()).toBe("chat-agent");
    await at.tell("document.querySelector('dialog').showModal()");
    expect(await onTop()).not.toBe("chat-agent");
    await at.tell("document.querySelector('dialog').close()");
    expect(await onTop()).toBe("chat-agent");
  });

  test("goes on below a modal dialog of the page, and takes no focus from it", async ({ expect, visit }) => {
    const answer = gate();
    stage.service.scripts.set("under a dialog", [[answer, ...reply("Said underneath.")]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("under a dialog");
    await at.tell("document.querySelector('dialog').showModal()");
    answer.open();
    await at.log.getByText("Said underneath.").waitFor();
    await at.tell("agent.focus()");
    expect(await at.tell("document.activeElement.localName")).not.toBe("chat-agent");
    await at.tell("document.querySelector('dialog').close()");
    await at.say("after the dialog");
    await at.log.getByText("You said: after the dialog").waitFor();
  });

  test("fills its box, without a launcher, where it is inline", async ({ expect, visit }) => {
    const at = await visit(
      stage.browser,
      `${stage.site.url}/?attributes=${encodeURIComponent('display="inline"')}`,
    );
    await at.composer.waitFor();
    await expect.poll(() => at.agent.locator(".launcher").count(), SOON).toBe(0);
    await at.composer.fill("inline");
    await at.composer.press("Enter");
    await at.log.getByText("You said: inline").waitFor();
  });
});

/** Each: its name, the markdown, the text that is to be seen of it, and the element that must not be. */
const ATTACKS = [
  ["intraword underscores", "snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4", "em"],
  ["a script", "<script>window.hit = 1</script> after", "<script>window.hit = 1</script>", "script"],
  ["a handler", '<img src=x onerror="window.hit = 1"> after', "onerror", "img"],
  ["a script link", "[press](javascript:window.hit=1) after", "press", "a"],
  ["an encoded script link", "[press](java&#115;cript:window.hit=1) after", "press", "a"],
  ["a data link", "[press](data:text/html,hit) after", "press", "a"],
  ["an image", "![a cat](https://example.com/leak?x=1) after", "a cat", "img"],
  ["a reference image", "![a dog][d] after\n\n[d]: https://example.com/leak", "a dog", "img"],
  ["an iframe", "<iframe src='https://example.com'></iframe> after", "iframe", "iframe"],
  ["a style", "<style>* { display: none }</style> after", "display: none", "style"],
] as const;

describe("markdown in an answer", () => {
  test("stays harmless text, whatever it tries", async ({ expect, visit }) => {
    const at = await visit(stage.browser, `${stage.site.url}/`);
    for (const [name, markdown, shown, forbidden] of ATTACKS) {
      stage.service.scripts.set(`md ${name}`, [reply(markdown)]);
      await at.say(`md ${name}`);
      const answer = at.log.locator(".message.assistant").last().locator(".text");
      await answer.getByText(shown).first().waitFor();
      await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
      expect.soft(await answer.locator(forbidden).count(), name).toBe(0);
      expect.soft(await at.tell("window.hit"), name).toBeUndefined();
      expect.soft(at.troubles, name).toEqual([]);
    }
  });

  test.for([
    ["some quotes", `${">".repeat(200)} deep`],
    ["some lists", `${"- ".repeat(200)}deep`],
    ["quotes", `${">".repeat(5_000)} deep`],
    ["lists", `${"- ".repeat(2_000)}deep`],
    ["emphasis", `${"*".repeat(3_000)}deep${"*".repeat(3_000)}`],
  ] as const)(
    "%s nested without end can be read, and the chat goes on",
    async ([name, text], { expect, visit }) => {
      stage.service.scripts.set(`md nested ${name}`, [
        [
          { type: "delta", text },
          { type: "done", elapsedMs: 1 },
        ],
      ]);
      const at = await visit(stage.browser, `${stage.site.url}/`);
      await at.say(`md nested ${name}`);
      await at.log.getByText("deep").first().waitFor();
      expect(await at.log.locator("blockquote, li, em, strong").count()).toBeLessThan(100);
      await at.say("and now?");
      await at.log.getByText("You said: and now?").waitFor();
      expect(at.troubles).toEqual([]);
    },
  );

  test("lists, tables, code and entities look as they are meant", async ({ expect, visit }) => {
    stage.service.scripts.set("md rich", [
      reply(
        "3. three\n   - nested\n4. four\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n`a < b` &amp; &copy; &#8364;\n\n- [x] done\n\n> quoted",
      ),
    ]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("md rich");
    await at.log.locator("blockquote").waitFor();
    expect(await at.log.locator("ol").getAttribute("start")).toBe("3");
    expect(await at.log.locator("ol ul li").textContent()).toContain("nested");
    expect(await at.log.locator("td").allTextContents()).toEqual(["1", "2"]);
    expect(await at.log.locator(".text").textContent()).toContain("a < b & &copy; €");
    expect(await at.log.locator(".text").textContent()).toContain("☑");
    const styleOf = (selector: string, name: string) =>
      at.tell(`getComputedStyle([...agent.shadowRoot.querySelectorAll("${selector}")].at(-1)).${name}`);
    expect(await styleOf("td", "textAlign")).toBe("right");
    expect(await styleOf("li", "listStyleType")).toBe("none");
  });
});
