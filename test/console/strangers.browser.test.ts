// For src/console/parts/printable-nodes.ts, src/console/shell/key.ts, src/console/
import { describe } from "vitest";
import { SOON, test } from "../widget/browser.ts";
import { openOperated, untilLive } from "./operating.ts";

const operated = openOperated();

describe("what strangers send to the console", () => {
  test("G10: a visitor's characters that change the reading order are seen as such, wherever they are", async ({
    visit,
    expect,
  }) => {
    const { browser, url, keys } = operated;
    const sent = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${keys.harnessApiKey}`, "content-type": "application/json" },
      body: JSON.stringify({
        threadId: "t\u202e1",
        userId: "me",
        displayName: "Ada \u202eecilA",
        text: "pay 12 \u200f34 56 to \u202eknab eht\u202c",
      }),
    });
    await sent.text();
    const { page, troubles } = await visit(browser, `${url}/console#key=${keys.localOperator}`);
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    const me = { headers: { authorization: `Bearer ${keys.localOperator}` } };
    const list = (await (await fetch(`${url}/v1/operator/channels/cli/threads`, me)).json()) as {
      items: { id: string }[];
    };
    await page.evaluate(`void (location.hash = "#/channels/cli/threads/${list.items[0]?.id}")`);
    await untilLive(page);
    await page.getByText("pay 12 \ufffd34 56 to \ufffdknab eht\ufffd", { exact: true }).waitFor();
    await page.getByText("Ada \ufffdecilA").first().waitFor();
    const raw = await page.evaluate<string>("document.documentElement.outerHTML");
    expect(raw).not.toMatch(/[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/);
    expect(troubles).toEqual([]);
  });

  test("G13: a link with another key asks before it replaces the tab's own", async ({ visit, expect }) => {
    const { browser, url, keys } = operated;
    const { page, troubles } = await visit(browser, `${url}/console#key=${keys.localOperator}`);
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    const stored = () => page.evaluate<string>("sessionStorage.getItem('operator-key')");
    const question = page.getByRole("dialog", { name: "Use another key?" });
    await page.evaluate(`void (location.hash = "#/audit")`);
    await page.getByRole("heading", { name: "Audit" }).waitFor();

    await page.evaluate(`void (location.hash = "#key=op_evil")`);
    await question.waitFor();
    expect(await stored()).toBe(keys.localOperator);
    await question.getByRole("button", { name: "Leave it" }).click();
    await question.waitFor({ state: "detached" });
    expect(page.url()).toBe(`${url}/console#/audit`);
    await page.getByRole("heading", { name: "Audit" }).waitFor();

    // The same by a page that is loaded anew.
    await page.goto(`${url}/console?again#key=op_evil`);
    await question.waitFor();
    expect(await stored()).toBe(keys.localOperator);
    expect(page.url()).not.toContain("op_evil");
    await question.getByRole("button", { name: "Use the link's key" }).click();
    await page.getByRole("heading", { name: "Console" }).waitFor();
    await expect.poll(stored, SOON).toBe(null);
    expect(troubles).toEqual([]);

    // The tab's own key asks nothing.
    await page.goto(`${url}/console?own#key=${keys.localOperator}`);
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await page.goto(`${url}/console?twice#key=${keys.localOperator}`);
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    expect(await question.count()).toBe(0);
  });
});
