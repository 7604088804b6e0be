import { expect, test } from "vitest";
import { temporaryFolder } from "../support/data-dir.ts";
import { TEST_KEY } from "../support/service.ts";
import { startServiceProcess } from "../support/service-process.ts";

const SOON = { timeout: 60_000 };

test("INSPECTOR=on prints a ready link that opens /machines; the log carries no key (P15)", async () => {
  const { url, output } = await startServiceProcess({ DATA_DIR: temporaryFolder(), INSPECTOR: "on" });
  await expect.poll(() => output.stderr, SOON).toContain("Inspector");
  const link = new URL(/Inspector\s+(\S+)/.exec(output.stderr)?.[1] ?? "");
  const key = new URLSearchParams(link.hash.slice(1)).get("key") ?? "";
  expect(link.origin + link.pathname).toBe(`${url}/machines`);

  expect((await fetch(link)).status).toBe(200);
  const channels = await fetch(`${url}/machines/api/channels`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(channels.status).toBe(200);
  await expect.poll(() => output.stdout.join("\n"), SOON).toContain("/machines/api/channels");
  expect(output.stdout.join("\n")).not.toContain(key);
});

test("without INSPECTOR there is no /machines", async () => {
  const { url, output } = await startServiceProcess({
    DATA_DIR: temporaryFolder(),
    HARNESS_API_KEY: TEST_KEY,
  });
  expect((await fetch(`${url}/machines`)).status).toBe(404);
  expect((await fetch(`${url}/machines/api/channels`)).status).toBe(404);
  expect(output.stderr).not.toContain("Inspector");
});
