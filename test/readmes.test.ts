import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createDefaultChannels } from "../src/installation/default-channels.ts";
import { newChannelKeys } from "../src/installation/channel-keys.ts";
import { temporaryFolder } from "./support/data-dir.ts";
import { startTestService, TEST_KEY } from "./support/service.ts";

/** What people read: links lead somewhere, tables tell what the code takes, examples run. */
const root = fileURLToPath(new URL("..", import.meta.url));
const ORIGIN = "https://shop.example";

const pages = ["README.md", ...["src", "machines", "test", "bench"].flatMap(pagesBelow)];

function pagesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((name) => name.endsWith("README.md") && !name.includes("node_modules") && !name.includes("/."));
}

function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

/** The anchors of a page's headings, as code hosts make them. */
function anchorsOf(page: string): string[] {
  return [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function brokenLinks(page: string): string[] {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : relative(root, join(root, dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
}

/** The page's example in JavaScript, run with what a reader would have set. Answers what it prints to stdout. */
async function run(page: string, before: string, env: Record<string, string>): Promise<string> {
  const example = /^```js\n(.*?)^```/ms.exec(textOf(page))?.[1] ?? "";
  const file = join(temporaryFolder(), "example.mjs");
  writeFileSync(file, `${before}\n${example}`);
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  return stdout;
}

test.each(pages)("%s links what is there", (page) => {
  expect(brokenLinks(page)).toEqual([]);
});

test("the operator's table lists every variable that is read, and its default", () => {
  const schema = /const variables = z\.object\(\{(.*?)^\}\);/ms.exec(textOf("src/config.ts"))?.[1] ?? "";
  const read = [...schema.matchAll(/^ {2}([A-Z_]+):(.*?)(?=^ {2}[A-Z]|(?![^]))/gms)];
  expect(read.length).toBeGreaterThan(30);

  const rows = textOf("src/cli/README.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const missing = read.filter(([, name = "", takes = ""]) => {
    const row = rows.find((line) => (line.split("|")[1] ?? "").includes(`\`${name}\``));
    const number = /default\(([\d_]+)\)/.exec(takes)?.[1]?.replaceAll("_", "");
    return row === undefined || (number !== undefined && !(row.split("|")[2] ?? "").includes(number));
  });
  expect(missing.map(([, name]) => name)).toEqual([]);
});

test("the example of the server API sends a message and reads its steps, text and end", async () => {
  const args = ["--import", "tsx", join(root, "src/demo/mcp-server.ts")];
  const shop = { command: process.execPath, args };
  const service = await startTestService({ processServers: { cli: { shop } } });
  const printed = await run("src/http/README.md", "", { BASE: service.url, KEY: TEST_KEY });
  expect(printed).toContain("Order 1001 was shipped yesterday");
  expect(printed).toContain("type: 'done'");
});

test("the example of the widget API carries a run over a page tool to its end", async () => {
  const service = await startTestService();
  const keys = newChannelKeys();
  await createDefaultChannels(service.store, { keys, origins: [ORIGIN] });
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
