// For src/widget/view/message/sources.tsx
import { describe } from "vitest";
import { SOON, test } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { violations } from "../page/axe.ts";
import { reply } from "../scripted-service.ts";
import type { Cue } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage();

const RETURNS = { title: "Returns and exchanges", url: "https://shop.example/help/returns" };
const search = (sources: { title: string; url: string }[]): Cue[] => [
  { type: "step", id: "search_knowledge", phase: "running", text: "Looking it up" },
  { type: "step", id: "search_knowledge", phase: "done", text: "Looking it up", sources },
];

const shown = ({ log }: Visit) => log.getByRole("navigation", { name: "Sources" });
const links = async (at: Visit) => {
  const found = await shown(at).getByRole("link").all();
  return Promise.all(found.map(async (link) => [await link.textContent(), await link.getAttribute("href")]));
};

describe.concurrent("the documents that a reply rests on", () => {
  test("stand under it as links, each once, and again after a reload", async ({ expect, visit }) => {
    stage.service.scripts.set("May I return it?", [
      [...search([RETURNS, RETURNS]), ...reply("Within 30 days.")],
    ]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("May I return it?");
    await expect.poll(() => links(at), SOON).toEqual([[RETURNS.title, RETURNS.url]]);
    expect(await shown(at).getByRole("link").getAttribute("rel")).toBe("noopener noreferrer");
    expect(await violations(at)).toEqual([]);
    await at.page.reload();
    await expect.poll(() => links(at), SOON).toEqual([[RETURNS.title, RETURNS.url]]);
    expect(at.troubles).toEqual([]);
  });

  test("that have no web address are named alone, and none runs a script", async ({ expect, visit }) => {
    const files = [
      { title: "Rules", url: "rules.md" },
      { title: "Trap", url: "javascript:alert(1)" },
    ];
    stage.service.scripts.set("What are the rules?", [[...search(files), ...reply("Be kind.")]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("What are the rules?");
    await expect
      .poll(() => shown(at).getByRole("listitem").allTextContents(), SOON)
      .toEqual(["Rules", "Trap"]);
    expect(await links(at)).toEqual([]);
  });

  test("are not there where nothing was found", async ({ expect, visit }) => {
    stage.service.scripts.set("What else?", [[...search([]), ...reply("I do not know.")]]);
    const at = await visit(stage.browser, `${stage.site.url}/`);
    await at.say("What else?");
    await at.log.getByText("I do not know.").waitFor();
    expect(await shown(at).count()).toBe(0);
  });
});
