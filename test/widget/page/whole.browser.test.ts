// For src/widget/view/, src/widget/styles/
import { describe } from "vitest";
import { violations } from "./axe.ts";
import { SOON, test } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { call, called, reply } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

const SIZES = [
  ["phone", { width: 390, height: 780 }],
  ["tablet", { width: 768, height: 900 }],
  ["desk", { width: 1_280, height: 800 }],
] as const;
const CASES = SIZES.flatMap(([size, viewport]) =>
  (["light", "dark"] as const).map((theme) => ({ size, viewport, theme })),
);

const RICH =
  'Yes, in **three sizes**:\n\n| Size | Litres | Price |\n|---|--:|--:|\n| Small | 0.25 | 1,250.00 € |\n| Large | 0.5 | 2,500.00 € |\n\n```ts\nconst aVeryLongLineOfCode = await shop.find("a red mug that is larger than any other mug");\n```\n\nIts volume is \\(\\pi r^2 h\\). See [the page](https://example.com).';

describe.concurrent("the whole of <chat-agent>", () => {
  test.for(CASES)(
    "is played by keyboard on a $size in $theme, and axe finds nothing wrong anywhere",
    async ({ size, viewport, theme }, { expect, visit }) => {
      const [about, order] = [`${size} ${theme}: what do you have?`, `${size} ${theme}: order it`];
      stage.service.scripts.set(about, [
        [
          { type: "step", id: "a", phase: "done", text: "Searched the shop" },
          { type: "step", id: "b", phase: "done", text: "Read the page" },
          ...reply(RICH),
        ],
      ]);
      stage.service.scripts.set(order, [
        call("is_consequential", { word: "all" }),
        [called("is_consequential"), ...reply("Ordered.")],
      ]);
      const attributes = encodeURIComponent(
        `theme="${theme}" heading="Mira" formulas dictation suggestions="${about}|Can I send it back?"`,
      );
      const at = await visit(stage.browser, `${stage.site.url}/?key=pk_files&attributes=${attributes}`, {
        viewport,
        reducedMotion: "reduce",
      });
      const { keyboard } = at.page;
      const fits = async () => {
        const isWide = await at.tell(
          `document.documentElement.scrollWidth > innerWidth || agent.shadowRoot.querySelector(".log").scrollWidth > agent.shadowRoot.querySelector(".log").clientWidth`,
        );
        expect(isWide).toBe(false);
        expect(await violations(at)).toEqual([]);
      };
      const focused = () =>
        at.tell<string>(
          "agent.shadowRoot.activeElement?.ariaLabel ?? agent.shadowRoot.activeElement?.textContent ?? ''",
        );
      /** Tab, or back, until this has the focus. */
      const tabTo = async (name: string, key = "Shift+Tab") => {
        for (let presses = 0; presses < 40 && (await focused()) !== name; presses += 1)
          await keyboard.press(key);
        expect(await focused()).toBe(name);
      };

      await at.agent.locator(".launcher").focus();
      await keyboard.press("Enter");
      await at.composer.waitFor();
      await at.log.getByText("Hello! How can I help?").waitFor();
      await fits();
      await expect.poll(focused, SOON).toBe("Write a message");
      await tabTo(about);
      await keyboard.press("Enter");
      await at.log.locator("math").waitFor();
      await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
      await at.tell("(agent.followUps = ['How much is it?'], 0)");
      await at.log.getByRole("button", { name: "How much is it?" }).waitFor();
      await tabTo("Answer again");
      await fits();
      await at.composer.focus();
      await keyboard.type(order);
      await keyboard.press("Enter");
      await at.agent.getByRole("button", { name: "Allow", exact: true }).waitFor();
      await fits();
      await tabTo("Allow", "Tab");
      await keyboard.press("Space");
      await at.log.getByText("Ordered.").waitFor();
      await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
      if (size !== "phone") {
        await tabTo("Make larger");
        await keyboard.press("Enter");
        await fits();
      }
      await tabTo("Conversations");
      await keyboard.press("Enter");
      await at.agent.locator(".thread").first().waitFor();
      expect(await violations(at)).toEqual([]);
      await keyboard.press("Escape");
      await at.composer.waitFor();
      await keyboard.press("Escape");
      expect(await at.tell("agent.open")).toBe(false);
      expect(at.troubles).toEqual([]);
    },
  );

  test("fits from right to left, in Arabic, and in Japanese and Chinese", async ({ expect, visit }) => {
    const open = async (lang: string): Promise<Visit> => {
      const at = await visit(stage.browser, `${stage.site.url}/?lang=${lang}&key=pk_people`, {
        viewport: { width: 390, height: 780 },
      });
      await at.agent.locator(".launcher").click();
      await at.composer.waitFor();
      await at.agent.locator("[part=ask-person]").waitFor();
      return at;
    };
    for (const lang of ["ar", "ja", "zh"]) {
      const at = await open(lang);
      const isWide = "document.documentElement.scrollWidth > innerWidth";
      expect(await at.tell(isWide)).toBe(false);
      expect(await violations(at)).toEqual([]);
    }
  });
});
