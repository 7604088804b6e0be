// For src/knowledge/search/lance-index.ts, src/owners-package.ts
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServiceProcess } from "../support/servers/service-process.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";
import { until } from "../support/until.ts";

/** A folder in which the package was installed: it has 230 MB, so no `npm ci` of this repository brings it. */
const INSTALLED = process.env["LANCEDB"];

function siteOf(index: object) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "rules"));
  writeFileSync(join(folder, "rules/returns.md"), "# Returns\n\nYou may return a mug within thirty days.\n");
  writeFileSync(join(folder, "rules/delivery.md"), "# Delivery\n\nWe deliver on working days, in a van.\n");
  const knowledge = { sources: [{ name: "rules", folder: "./rules" }], ...index };
  const channels = [{ slug: "cli", kind: "transport", knowledge }];
  writeFileSync(join(folder, "channels.json"), JSON.stringify({ channels }));
  const env = { DATA_DIR: join(folder, "data"), CHANNELS_FILE: join(folder, "channels.json"), MODEL: "demo" };
  const command = async (...args: string[]) => runCommand(env, ["knowledge", ...args]);
  const found = async (question: string) =>
    (JSON.parse((await command("search", "cli", question, "--json")).out) as { url: string }[]).map(
      ({ url }) => url,
    );
  return { folder, env, command, found };
}

test("without its package the log, and a question, say what to install", async () => {
  const { env, command } = siteOf({ index: "lancedb" });
  const service = await startServiceProcess(env);
  await until("the log says so", () =>
    service.output.stdout.some((line) => line.includes("npm install @lancedb/lancedb")),
  );
  const asked = await command("search", "cli", "mug");
  expect([asked.code, asked.err]).toEqual([
    1,
    expect.stringContaining("npm install @lancedb/lancedb") as string,
  ]);
});

test.skipIf(INSTALLED === undefined)(
  "passages on the disk are found as those in memory are (LANCEDB names a folder with the package)",
  { timeout: 120_000 },
  async () => {
    const { folder, env, command, found } = siteOf({ index: "lancedb" });
    await startServiceProcess({ ...env, NODE_PATH: join(INSTALLED ?? "", "node_modules") });
    await until("they are read", async () => (await command("list", "cli")).out.includes(" read "));
    expect(await found("May I return it?")).toEqual(["returns.md"]);
    expect(await found("delivers")).toEqual(["delivery.md"]);
    expect(await found("zebra")).toEqual([]);
    writeFileSync(join(folder, "rules/delivery.md"), "# Delivery\n\nWe carry it ourselves.\n");
    expect((await command("sync", "cli")).code).toBe(0);
    expect(await found("van")).toEqual([]);
    expect(await found("carries")).toEqual(["delivery.md"]);
  },
);
