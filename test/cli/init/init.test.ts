// For src/cli/init/
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { readConfig } from "../../../src/config.ts";
import { parseChannels } from "../../../src/installation/channels-file.ts";
import { Secret } from "../../../src/secret.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { openTestTerminal, runCommand } from "../../support/terminal.ts";
import type { Ran } from "../../support/terminal.ts";

const SITE = "https://www.example.com";

/** The two files, read as a start reads them. */
function readFolder(folder: string) {
  const env = parseEnv(readFileSync(join(folder, ".env"), "utf8"));
  const variable = (name: string) => (env[name] ? new Secret(env[name]) : null);
  const text = readFileSync(join(folder, "channels.json"), "utf8");
  const [channel] = parseChannels(text, variable).channels;
  return { env, config: readConfig(env), channel, text };
}

const CTRL_C = "\u0003";

/** What a person types at a terminal, a line for each question; `null` at the end: the terminal is gone. */
async function type(args: readonly string[], lines: readonly (string | null)[]): Promise<Ran> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const terminal = { ...openTestTerminal({}), input, interactive: true };
  for (const line of lines)
    if (line === null) input.end();
    else if (line === CTRL_C) input.write(line);
    else input.write(`${line}\n`);
  const code = await runProgram(["init", ...args], terminal);
  return { code, ...terminal.written };
}

test("the flags alone write a channel and settings that a start takes, with keys of their own", async () => {
  const folder = temporaryFolder();
  const args = ["--origin", SITE, "--origin", "http://localhost:3000", "--instructions", 'It\'s a "shop"'];
  const { code, out, err } = await runCommand({}, ["init", "--dir", folder, ...args]);
  expect([code, err]).toEqual([0, ""]);
  const { env, config, channel, text } = readFolder(folder);
  expect(channel).toMatchObject({
    slug: "website",
    kind: "web",
    allowedOrigins: [SITE, "http://localhost:3000"],
    agent: { instructions: 'It\'s a "shop"' },
  });
  expect(out).toContain(`<chat-agent publishable-key="${channel?.publishableKey}"></chat-agent>`);
  expect(config).toMatchObject({ channelsFile: "./channels.json", dataDir: "./data", redisUrls: [] });
  expect(env).toMatchObject({ OPENAI_API_KEY: "", OPENAI_MODEL: "gpt-5-mini" });
  expect(env["WEBSITE_SECRET_KEY"]).toMatch(/^sk_[\w-]{43}$/);
  expect(env["HARNESS_API_KEY"]).toMatch(/^tk_[\w-]{43}$/);
  // Secrets are in the file that only its owner reads, and on no screen.
  expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
  for (const secret of [env["WEBSITE_SECRET_KEY"], env["HARNESS_API_KEY"]])
    expect(text + out).not.toContain(secret);
});

test("at a terminal seven questions are asked; what is wrong is asked again, and an empty line takes what is usual", async () => {
  const folder = temporaryFolder();
  const typed = [
    "example.com",
    `${SITE}/shop`,
    SITE,
    "http://127.0.0.1:9000/",
    "",
    "http://127.0.0.1:11434/v1",
    "redis://:p%zz@host",
    "redis://:it's@host:6380/1",
    "https://user:secret@www.example.com/",
    "",
    "telegram pager",
    "",
  ];
  const { code, out } = await type(["--dir", folder], typed);
  expect(code).toBe(0);
  expect(out).toContain('"example.com" is no origin: scheme://host[:port], without a path');
  expect(out).toContain("REDIS_URL is not usable (its value is not shown)");
  expect(out).toContain('"pager" is none of telegram, slack, whatsapp, discord, teams');
  expect(out.match(/\?.*\n/g)?.length).toBe(7);
  const { env, config, channel } = readFolder(folder);
  expect(channel).toMatchObject({
    allowedOrigins: [SITE],
    agent: { instructions: expect.stringContaining("You help") as string },
  });
  expect(out).toContain("must have no user name and no password");
  expect(env).toMatchObject({ PORT: "9000", REDIS_URL: "redis://:it's@host:6380/1", OPENAI_MODEL: "" });
  expect(config.openai.baseUrl).toBe("http://127.0.0.1:11434/v1");
  expect(out).toContain('<script src="http://127.0.0.1:9000/widget/v1/chat-agent.js" defer></script>');
});

test("what a flag answers is not asked", async () => {
  const folder = temporaryFolder();
  const args = [
    "--dir",
    folder,
    "--url",
    "https://chat.example.com",
    "--store",
    "/var/lib/chat",
    "--model",
    "demo",
  ];
  const { code, out } = await type(args, [SITE, "You sell mugs.", "", ""]);
  expect(code).toBe(0);
  expect(out.match(/\?.*\n/g)?.length).toBe(4);
  const { env, channel } = readFolder(folder);
  expect(env).toMatchObject({ DATA_DIR: "/var/lib/chat", HOST: "127.0.0.1", PORT: "8080" });
  expect(env).not.toHaveProperty("OPENAI_API_KEY");
  expect(channel?.agent).toEqual({ instructions: "You sell mugs." });
});

test("documents are sources of the channel, named after where they are, paths relative to the file", async () => {
  const folder = temporaryFolder();
  const places = `${SITE}/help/ ${SITE}/sitemap.xml ${folder}/rules ${folder}/prices.pdf /srv/rules`;
  const { code } = await runCommand({}, ["init", "--dir", folder, "--origin", SITE, "--documents", places]);
  expect(code).toBe(0);
  const { channel, env } = readFolder(folder);
  expect(channel?.knowledge).toEqual({
    sources: [
      { name: "www.example.com", url: `${SITE}/help/` },
      { name: "www.example.com-2", sitemap: `${SITE}/sitemap.xml` },
      { name: "rules", folder: "./rules" },
      { name: "prices.pdf", file: "./prices.pdf" },
      { name: "rules-2", folder: "/srv/rules" },
    ],
  });
  expect(env).not.toHaveProperty("KNOWLEDGE_PRIVATE");
  const local = temporaryFolder();
  await runCommand({}, [
    "init",
    "--dir",
    local,
    "--origin",
    SITE,
    "--documents",
    "http://localhost:3000/help",
  ]);
  expect(readFolder(local).config.knowledgePrivate).toBe(true);
});

test.each([null, CTRL_C])("who leaves before the last answer leaves nothing behind: %j", async (leaves) => {
  const folder = temporaryFolder();
  const { code, err } = await type(["--dir", folder], [SITE, "", leaves]);
  expect([code, err]).toEqual([1, "Cannot go on without an answer: nothing was written\n"]);
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ["http://localhost", "127.0.0.1", 80],
  ["http://127.0.0.1:9000/", "127.0.0.1", 9000],
  ["http://[::1]:9000", "::1", 9000],
  ["http://127.0.0.2", "127.0.0.2", 80],
  ["http://localhost.example.com", "127.0.0.1", 8080],
  ["http://localhost/chat", "127.0.0.1", 8080],
  ["https://localhost", "127.0.0.1", 8080],
])("pages that look at %s find the service, or its proxy does: %s, port %i", async (url, host, port) => {
  const folder = temporaryFolder();
  const { out } = await runCommand({}, ["init", "--dir", folder, "--origin", SITE, "--url", url]);
  expect(readFolder(folder).config).toMatchObject({ host, port });
  expect(out).toContain(`src="${url.replace(/\/$/, "")}/widget/v1/chat-agent.js"`);
});

test("a file that is there is not touched, unless --force says so", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".env"), "MINE=1\n");
  const args = ["init", "--dir", folder, "--origin", SITE];
  const { code, err } = await runCommand({}, args);
  expect(code).toBe(1);
  expect(err).toBe(
    `Cannot begin in ${folder}: .env would be replaced; --dir names another folder, --force replaces what is there\n`,
  );
  expect(readdirSync(folder)).toEqual([".env"]);
  expect(readFileSync(join(folder, ".env"), "utf8")).toBe("MINE=1\n");
  expect((await runCommand({}, [...args, "--force"])).code).toBe(0);
  expect(readFolder(folder).env).not.toHaveProperty("MINE");
  expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
});

test("a folder that cannot be written into is told, and keeps no half", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a-file"), "");
  const { code, err } = await runCommand({}, ["init", "--origin", SITE, "--dir", join(folder, "a-file")]);
  expect([code, err]).toEqual([1, expect.stringMatching(/^Cannot write into .*a-file: .+\n$/)]);
});

test.each([
  [[], "without a terminal to ask at, it takes --origin"],
  [["--origin", "null"], '"null" is no origin'],
  [["--origin", SITE, "--url", "chat.example.com"], '"chat.example.com" is no address'],
  [["--origin", SITE, "--model", "gpt"], "OPENAI_BASE_URL"],
  [["--origin", SITE, "--store", '/it\'s "here"'], "a folder or an address without any of"],
  [["--origin", SITE, "--channel", "My Shop"], "1 to 64 of a-z 0-9 - _"],
])("wrong use: %j", async (args, sentence) => {
  const folder = temporaryFolder();
  const { code, err } = await runCommand({}, ["init", "--dir", folder, ...args]);
  expect([code, err]).toEqual([2, expect.stringContaining(sentence)]);
  expect(readdirSync(folder)).toEqual([]);
});

test("a slug that begins with a digit has a variable that shells take", async () => {
  const folder = temporaryFolder();
  const { code } = await runCommand({}, ["init", "--dir", folder, "--origin", SITE, "--channel", "2-shop"]);
  expect(code).toBe(0);
  expect(readFolder(folder).env).toHaveProperty("_2_SHOP_SECRET_KEY");
});

test("messengers are channels of their own, named after the platform, whose settings are variables to fill in", async () => {
  const folder = temporaryFolder();
  const args = ["init", "--dir", folder, "--origin", SITE, "--messengers", "telegram slack"];
  const { code } = await runCommand({}, args);
  expect(code).toBe(0);
  const { channels } = JSON.parse(readFileSync(join(folder, "channels.json"), "utf8")) as {
    channels: { slug: string; kind: string; messenger?: object }[];
  };
  expect(channels.map(({ slug, kind }) => [slug, kind]).slice(1)).toEqual([
    ["telegram", "transport"],
    ["slack", "transport"],
  ]);
  expect(channels[1]?.messenger).toEqual({
    type: "telegram",
    settings: { botToken: "$TELEGRAM_BOT_TOKEN", secretToken: "$TELEGRAM_SECRET_TOKEN" },
  });
  const env = readFileSync(join(folder, ".env"), "utf8");
  expect(env).toMatch(/^TELEGRAM_BOT_TOKEN=$/m);
  expect(env).toMatch(/^TELEGRAM_SECRET_TOKEN=[0-9a-f]{48}$/m);
  const refused = await runCommand({}, [
    "init",
    "--dir",
    temporaryFolder(),
    "--origin",
    SITE,
    "--messengers",
    "pager",
  ]);
  expect(refused.code).toBe(2);
});
