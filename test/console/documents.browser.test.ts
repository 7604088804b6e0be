// For src/console/documents/, src/console/parts/use-look-again.ts
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { addOperators } from "../http/operator-api/operators-service.ts";
import { cli } from "../http/service.ts";
import { emptyFolder } from "../support/stores/data-dir.ts";
import { startTestService } from "../support/servers/service.ts";
import { launchBrowser, SOON, test } from "../widget/browser.ts";
import { accessibilityTroubles } from "./operating.ts";

let browser: Browser;
beforeAll(async () => void (browser = await launchBrowser({ webMcp: false })));
afterAll(() => browser.close());

test("an admin adds a folder, tries a question, sees what failed, and removes it; an auditor only looks", async ({
  visit,
  expect,
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "documents-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "returns.md"), "# Returns\n\nYou may return a mug within thirty days.\n");
  writeFileSync(join(folder, "broken.docx"), "This is no Word file");
  const store = await openEmbeddedStore({ dataDir: emptyFolder(), clock: systemClock });
  onTestFinished(() => store.close());
  const env = { KNOWLEDGE_PRIVATE: "on" };
  const service = await startTestService({ store, channels: [cli], env });
  await addOperators(store);
  await service.directory.renew();

  const { page, troubles } = await visit(browser, `${service.url}/console#key=op_admin`);
  await page.getByRole("link", { name: "Channels" }).waitFor();
  await page.goto(`${service.url}/console#/channels/cli`);
  await page.getByRole("link", { name: "Documents" }).press("Enter");
  await page.getByText("This channel has no documents.").waitFor();
  expect(await accessibilityTroubles(page)).toEqual([]);

  await page.getByRole("button", { name: "Add a source" }).press("Enter");
  const dialog = page.getByRole("dialog", { name: "Add a source" });
  await dialog.getByLabel("Name").fill("rules");
  await dialog.getByLabel("Kind").selectOption("folder");
  await dialog.getByLabel("Path").fill(folder);
  expect(await accessibilityTroubles(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Add" }).press("Enter");
  const source = page.getByRole("region", { name: "rules" });
  await source.getByText("read in part").waitFor();
  await source.getByText("1 page could not be read").click();
  await source.getByText("broken.docx").waitFor();

  await page.getByRole("searchbox", { name: "Try a question" }).fill("Can I return my mug?");
  await page.keyboard.press("Enter");
  await page.getByText("You may return a mug within thirty days.").waitFor();
  expect(await accessibilityTroubles(page)).toEqual([]);

  // What is mended is read without a reload.
  rmSync(join(folder, "broken.docx"));
  await source.getByRole("button", { name: "Read now" }).press("Enter");
  await source.getByText("read", { exact: true }).waitFor();

  const auditor = await visit(browser, `${service.url}/console#key=op_auditor`);
  await auditor.page.getByRole("link", { name: "Channels" }).waitFor();
  await auditor.page.goto(`${service.url}/console#/channels/cli/documents`);
  await auditor.page.getByRole("region", { name: "rules" }).waitFor();
  expect(
    await auditor.page.getByRole("button", { name: /Read now|Remove|Add a source|^Find$/ }).count(),
  ).toBe(0);

  await source.getByRole("button", { name: "Remove" }).press("Enter");
  await page.getByRole("dialog").getByRole("button", { name: "Remove it" }).press("Enter");
  await page.getByText("This channel has no documents.").waitFor();
  await expect
    .poll(async () => (await store.knowledge?.sources("cli"))?.sources ?? [], { ...SOON, timeout: 15_000 })
    .toEqual([]);
  expect(troubles).toEqual([]);
});
