// For src/widget/files/, src/widget/run/thread/handle-files.ts, src/widget/view/composer/attach-button.tsx, src/widget/view/composer/draft-file-list.tsx,
// src/widget/view/message/message-files.tsx
import { readFile } from "node:fs/promises";
import { describe } from "vitest";
import { violations } from "../page/axe.ts";
import { SOON, test } from "../browser.ts";
import type { OpenVisit, Visit } from "../browser.ts";
import { openStage } from "../stage.ts";

const stage = openStage();
const PDF = { name: "invoice 7.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4 a bill") };

async function opened(visit: OpenVisit): Promise<Visit> {
  const at = await visit(stage.browser, `${stage.site.url}/?key=pk_files`);
  await at.agent.locator(".launcher").click();
  await at.composer.waitFor();
  return at;
}

async function choose(at: Visit, ...files: (typeof PDF)[]): Promise<void> {
  await at.agent.locator("input[type=file]").setInputFiles(files);
}

describe.concurrent("a visitor's files in <chat-agent>", () => {
  test("are chosen, sent without a word, shown, there after a reload, and saved", async ({
    expect,
    visit,
  }) => {
    const at = await opened(visit);
    await choose(at, PDF);
    await at.agent.locator(".drafts .name", { hasText: "invoice 7.pdf" }).waitFor();
    await at.agent.locator(".drafts[aria-busy=false]").waitFor();
    expect(await violations(at)).toEqual([]);
    await at.agent.getByRole("button", { name: "Send" }).click();
    const card = at.log.getByRole("button", { name: "invoice 7.pdf" });
    await card.waitFor();
    await expect.poll(() => at.tell("agent.state"), SOON).toBe("idle");
    expect(await at.agent.locator(".drafts").count()).toBe(0);
    const sent = stage.service.asked.findLast(({ path, body }) => path === "/messages" && "files" in body);
    expect(sent?.body).toMatchObject({ text: "", files: ["file1"] });

    await at.page.reload();
    await card.waitFor();
    const [download] = await Promise.all([at.page.waitForEvent("download"), card.click()]);
    expect(download.suggestedFilename()).toBe("invoice 7.pdf");
    expect(await readFile(await download.path())).toEqual(PDF.buffer);
    expect(await violations(at)).toEqual([]);
    expect(at.troubles).toEqual([]);
  });

  test("are refused by name if they are too large, or of no kind that is taken, and can be taken back", async ({
    expect,
    visit,
  }) => {
    const at = await opened(visit);
    await choose(at, { ...PDF, name: "huge.pdf", buffer: Buffer.alloc(100_001, 32) });
    await at.agent.getByRole("alert").getByText("huge.pdf is too large.").waitFor();
    await choose(at, { ...PDF, name: "odd.pdf", buffer: Buffer.from("MZ") });
    await at.agent.getByRole("alert").getByText("odd.pdf cannot be sent").waitFor();
    expect(await at.agent.locator(".drafts").count()).toBe(0);
    await choose(at, PDF);
    await at.agent.getByRole("button", { name: "Remove invoice 7.pdf" }).click();
    await expect.poll(() => at.agent.locator(".drafts").count(), SOON).toBe(0);
    expect(await at.tell("agent.shadowRoot.activeElement.localName")).toBe("textarea");
  });

  test("beside a text, come again with a message that got no answer", async ({ expect, visit }) => {
    const at = await opened(visit);
    await choose(at, PDF);
    await at.agent.locator(".drafts[aria-busy=false]").waitFor();
    stage.service.losing.set("with a bill", "before");
    await at.say("with a bill");
    await at.log.getByText("Not sent.").waitFor();
    stage.service.losing.delete("with a bill");
    await at.log.getByRole("button", { name: "Try again" }).click();
    await at.log.getByText("You said: with a bill").waitFor();
    const sent = stage.service.asked.filter(({ body }) => body["text"] === "with a bill");
    expect(sent.length).toBeGreaterThan(1);
    for (const { body } of sent) expect(body).toMatchObject({ files: ["file1"] });
  });
});
