// For src/console/conversation/message-files.tsx, src/client/create-client.ts
import { readFile } from "node:fs/promises";
import { onTestFinished } from "vitest";
import { createClient } from "../../src/client/create-client.ts";
import { pdfOf } from "../knowledge/documents.ts";
import { launchBrowser, test } from "../widget/browser.ts";
import { accessibilityTroubles } from "./operating.ts";
import { openStaffedShop } from "./staffed-shop.ts";

test("a PDF that a client sends is read by the model, and an operator saves it as it came", async ({
  visit,
  expect,
}) => {
  const shop = await openStaffedShop({ script: () => "Within 30 days." });
  const browser = await launchBrowser({ webMcp: false });
  onTestFinished(() => browser.close());
  const client = createClient(shop.server);
  const owner = { threadId: "t1", userId: "ada" };
  const bytes = new Uint8Array(pdfOf("Returns within 30 days", "Our rules"));
  const file = await client.sendFile({ ...owner, name: "rules.pdf", data: bytes });
  expect(file).toMatchObject({ name: "rules.pdf", type: "application/pdf", bytes: bytes.length });
  const reply = client.send({ ...owner, text: "How long?", files: [file.id] });
  await reply.final;
  expect(reply.text).toBe("Within 30 days.");
  const asked = shop.model.requests.at(-1)?.body.messages.at(-1);
  expect(asked?.content).toMatch(/^How long\?\n\n<visitor_file>\n.*Returns within 30 days/);
  const history = await client.history(owner);
  expect(history[0]).toMatchObject({ content: "How long?", files: [file] });

  const { page } = await visit(browser, shop.console);
  const { items } = (await (await shop.ask("/channels/cli/threads")).json()) as { items: { id: string }[] };
  await page.evaluate(`location.hash = "#/channels/cli/threads/${items[0]?.id}"`);
  const button = page.getByRole("button", { name: /rules\.pdf/ });
  await button.waitFor();
  expect(await accessibilityTroubles(page)).toEqual([]);
  const [saved] = await Promise.all([page.waitForEvent("download"), button.press("Enter")]);
  expect(saved.suggestedFilename()).toBe("rules.pdf");
  expect(new Uint8Array(await readFile(await saved.path()))).toEqual(bytes);
});
