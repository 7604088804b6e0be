// For src/widget/run/, src/widget/page-conversation.ts
import { pathOfPageCache } from "../../support/programs.ts";
import { describe } from "vitest";
import type { ExpectStatic } from "vitest";
import { SOON, test } from "../browser.ts";
import type { Visit } from "../browser.ts";
import { call, called, gate, reply } from "../scripted-service.ts";
import type { Cue } from "../scripted-service.ts";
import { openStage } from "../stage.ts";

const stage = openStage({ pageCache: true });

const SAID = "One two three four five six seven.";

/** What a visitor says, and a reply that begins with two words and goes on after what comes between. */
function replyWith(text: string, ...between: Cue[]): string {
  const words = reply(SAID);
  stage.service.scripts.set(text, [[...words.slice(0, 2), ...between, ...words.slice(2)]]);
  return text;
}

/** The requests behind the first `from` whose body has the value in the field. */
function askedSince(from: number, field: string, value: string) {
  return stage.service.asked.slice(from).filter(({ body }) => body[field] === value);
}

/** Goes back, and tells whether the page is the one that was left, restored, or loaded anew. */
async function goBack({ page }: Visit): Promise<"restored" | "loaded"> {
  // The page may be gone before it answers that it goes.
  await page.evaluate("history.back()").catch(() => {});
  // A restored page has no load to wait for.
  await page.waitForURL(`${stage.site.url}/`, { waitUntil: "commit" });
  await page.waitForFunction("window.persisted !== undefined");
  return (await page.evaluate("window.persisted")) === true ? "restored" : "loaded";
}

/** The message and its whole reply are shown, once each. */
async function expectOnce(expect: ExpectStatic, at: Visit): Promise<void> {
  await at.log.getByText(SAID).waitFor();
  await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
  await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(2);
}

// The Chromium without windows has no page cache.
describe.skipIf(pathOfPageCache() === null)(
  "a page that the visitor comes back to",
  { concurrent: true },
  () => {
    test("was left in a reply that goes on: from the page cache, and the reply is shown once", async ({
      expect,
      visit,
    }) => {
      const from = stage.service.asked.length;
      const at = await visit(stage.browser, `${stage.site.url}/`);
      const rest = gate();
      await at.say(replyWith("left early", rest));
      await at.log.getByText("One two").waitFor();
      await at.page.goto(`${stage.site.url}/file`);
      expect(await goBack(at)).toBe("restored");
      rest.open();
      await expectOnce(expect, at);
      expect(askedSince(from, "text", "left early")).toHaveLength(1);
    });

    test("was left in a reply whose connection broke meanwhile: it is picked up, and shown once", async ({
      expect,
      visit,
    }) => {
      const from = stage.service.asked.length;
      const at = await visit(stage.browser, `${stage.site.url}/`);
      const [theCut, rest] = [gate(), gate()];
      await at.say(replyWith("left and cut", theCut, { type: "cut" }, rest));
      await at.log.getByText("One two").waitFor();
      await at.page.goto(`${stage.site.url}/file`);
      theCut.open();
      await rest.reached;
      await goBack(at);
      rest.open();
      await expectOnce(expect, at);
      expect(askedSince(from, "text", "left and cut")).toHaveLength(1);
    });

    test("was left in a reply that the next page took over: it is loaded anew, and the reply shown once", async ({
      expect,
      visit,
    }) => {
      const at = await visit(stage.browser, `${stage.site.url}/`);
      const rest = gate();
      await at.say(replyWith("taken over", rest));
      await at.log.getByText("One two").waitFor();
      await at.page.goto(`${stage.site.url}/next`);
      rest.open();
      await at.log.getByText(SAID).waitFor();
      await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
      // The lock of the run was wanted: no browser keeps a page over that.
      expect(await goBack(at)).toBe("loaded");
      await expectOnce(expect, at);
    });

    test("was left at rest: what was said elsewhere since is there, once", async ({ expect, visit }) => {
      const at = await visit(stage.browser, `${stage.site.url}/`);
      await at.say("before I left");
      await at.log.getByText("You said: before I left").waitFor();
      await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
      const threadId = await at.tell<string>("agent.threadId");
      await at.page.goto(`${stage.site.url}/file`);
      stage.service.addHistory(threadId, "assistant", "Said elsewhere");
      expect(await goBack(at)).toBe("restored");
      await at.log.getByText("Said elsewhere").waitFor();
      await expect.poll(() => at.log.locator(".message").count(), SOON).toBe(3);
    });

    test("was left by a tool for a page without the chat: its result is posted on the return", async ({
      expect,
      visit,
    }) => {
      stage.service.scripts.set("open the file", [
        call("opens_file"),
        [called("opens_file"), ...reply(SAID)],
      ]);
      const from = stage.service.asked.length;
      const at = await visit(stage.browser, `${stage.site.url}/`);
      // A departure that comes to nothing is given ten seconds: not here, the return alone ends it.
      await at.page.evaluate(`{
      const set = window.setTimeout;
      window.setTimeout = (act, ms) => (ms >= 10_000 ? 0 : set(act, ms));
    }`);
      await at.tell(`agent.registerTool({
      name: "opens_file",
      description: "Opens the file",
      inputSchema: { type: "object" },
      execute: () => { location.href = "/file"; return "opened it"; },
    })`);
      await at.say("open the file");
      await at.page.waitForURL("**/file");
      expect(await goBack(at)).toBe("restored");
      await expectOnce(expect, at);
      const results = askedSince(from, "tool", "opens_file");
      expect(results.map(({ body }) => body["result"])).toEqual(["opened it"]);
    });
  },
);
