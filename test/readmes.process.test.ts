// For README.md, src/cli/
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createDemoChannel } from "../src/installation/default-channels.ts";
import { newChannelKeys } from "../src/keys.ts";
import { temporaryFolder } from "./support/stores/data-dir.ts";
import { sendMessage, startTestService, TEST_KEY } from "./support/servers/service.ts";

/** The examples of the pages that people read run as they are written. */
const root = fileURLToPath(new URL("..", import.meta.url));
const ORIGIN = "https://shop.example";

/** The page's example in JavaScript, run with what a reader would have set. Answers what it prints to stdout. */
async function run(page: string, before: string, env: Record<string, string>): Promise<string> {
  const example = /^```js\n(.*?)^```/ms.exec(readFileSync(join(root, page), "utf8"))?.[1] ?? "";
  const file = join(temporaryFolder(), "example.mjs");
  writeFileSync(file, `${before}\n${example}`);
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  return stdout;
}

test("the example of the server API sends a message and reads its steps, text and end", async () => {
  const args = ["--import", "tsx", join(root, "src/demo/mcp-server.ts")];
  const shop = { command: process.execPath, args };
  const service = await startTestService({ ownServers: { cli: { shop } } });
  // A busy machine may need more than the five seconds that the service gives the shop's process to start.
  const asks = { threadId: "before", userId: "u", text: "What is the status of order 1001?" };
  await expect.poll(async () => (await sendMessage(service.url, asks)).text).toContain("shipped");
  const printed = await run("src/http/README.md", "", { BASE: service.url, KEY: TEST_KEY });
  expect(printed).toContain("Order 1001 was shipped yesterday");
  expect(printed).toContain("type: 'done'");
});

test("the example of the widget API carries a run over a page tool to its end", async () => {
  const service = await startTestService();
  const keys = newChannelKeys();
  await createDemoChannel(service.store, { keys, origins: [ORIGIN] });
  await service.directory.renew();

  // What a browser gives a page, and Node does not: an Origin, storage and an address.
  const browser = `
    const { SERVICE, PUBLISHABLE_KEY, ORIGIN } = process.env;
    const send = globalThis.fetch;
    globalThis.fetch = (url, options) => send(url, { ...options, headers: { ...options.headers, origin: ORIGIN } });
    const kept = new Map();
    const localStorage = {
      getItem: (name) => kept.get(name) ?? null,
      setItem: (name, value) => kept.set(name, value),
      removeItem: (name) => kept.delete(name),
    };
    const location = { pathname: "/shop", search: "" };`;
  const env = { SERVICE: service.url, PUBLISHABLE_KEY: keys.publishableKey, ORIGIN };
  const lines = (await run("src/http/widget-api/README.md", browser, env))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string });
  expect(lines.map(({ type }) => type)).toContain("tool_call");
  expect(lines.at(-1)).toMatchObject({ type: "done" });
});
