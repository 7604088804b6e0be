import { expect, test } from "vitest";
import { inspectorKey } from "../../src/inspector/inspector-key.ts";
import { Secret } from "../../src/secret.ts";
import { temporaryFolder } from "../support/data-dir.ts";
import { TEST_KEY } from "../support/service.ts";
import { startServiceProcess } from "../support/service-process.ts";

const SOON = { timeout: 60_000 };

test("INSPECTOR=on opens /machines to its key, which no pipe and no log carries (A4, P15)", async () => {
  const env = { DATA_DIR: temporaryFolder(), INSPECTOR: "on", HARNESS_API_KEY: TEST_KEY };
  const { url, output } = await startServiceProcess(env);
  await expect.poll(() => output.stderr, SOON).toMatch(/Inspector +its link carries a key/);
  const key = inspectorKey(new Secret(TEST_KEY)).reveal();
  expect(output.stderr).not.toContain(key);

  expect((await fetch(`${url}/machines`)).status).toBe(200);
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
