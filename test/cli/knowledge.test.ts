// For src/cli/knowledge.ts
import { expect, test } from "vitest";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { runCommand } from "../support/terminal.ts";

async function opened() {
  const env = { DATA_DIR: temporaryFolder() };
  // As a first start leaves it.
  await (await openEmbeddedStore({ dataDir: env.DATA_DIR, clock: systemClock })).close();
  const run = (...args: string[]) => runCommand(env, args);
  await run("channels", "create", "bot", "--kind", "transport");
  return { run, knowledge: (...args: string[]) => run("knowledge", ...args) };
}

test("sources are added, listed and removed, also while no service runs", async () => {
  const { knowledge } = await opened();
  expect((await knowledge("list", "bot")).out).toBe("Channel bot has no documents\n");
  const folder = temporaryFolder();
  const added = await knowledge("add", "bot", "rules", "--folder", folder, "--every", "7d");
  expect([added.code, added.out]).toEqual([
    0,
    `Added rules: ${folder}; chat-agent knowledge list bot shows it\n`,
  ]);
  await knowledge("add", "bot", "help", "--url", "https://shop.example/help/");
  const listed = JSON.parse((await knowledge("list", "bot", "--json")).out) as object[];
  const unread = { state: "new", pages: 0, passages: 0, readAt: null, failed: 0, failures: [], fault: null };
  expect(listed).toMatchObject([
    { name: "help", url: "https://shop.example/help/", ...unread },
    { name: "rules", folder, every: "7d", ...unread },
  ]);
  expect((await knowledge("list", "bot")).out).toMatch(/^NAME .*\nhelp .* new .* never\nrules /);
  expect((await knowledge("search", "bot", "mugs")).out).toBe("No passage has these words\n");
  expect(JSON.parse((await knowledge("sync", "bot", "--no-wait", "--json")).out)).toHaveLength(2);
  expect((await knowledge("remove", "bot", "help")).out).toBe("Removed help\n");
  expect(JSON.parse((await knowledge("list", "bot", "--json")).out)).toMatchObject([{ name: "rules" }]);
});

test.each([
  [["add", "bot", "x"], 2, "it takes one of --url, --sitemap, --folder and --file"],
  [["add", "bot", "x", "--url", "https://a.example", "--file", "b"], 2, "it takes one of"],
  [["add", "bot", "x", "--url", "ftp://a.example"], 1, "must be an http:// or https:// address"],
  [["add", "bot", "x", "--url", "http://10.0.0.1/"], 1, "has no public address"],
  [["add", "bot", "no/name", "--url", "https://a.example"], 1, "name"],
  [["add", "bot", "x", "--url", "https://a.example", "--every", "soon"], 1, "must be a time such as 30m"],
  [["add", "none", "x", "--url", "https://a.example"], 1, "Cannot find channel none"],
  [["remove", "bot", "none"], 1, "Cannot find source none: the channel has none of that name"],
  [["sync", "bot", "--source", "none"], 1, "Cannot find source none"],
  [["list", "none"], 1, "Cannot find channel none"],
] as const)("%j exits with %i", async (args, code, why) => {
  const { knowledge } = await opened();
  const ran = await knowledge(...args);
  expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(why) as string]);
});
