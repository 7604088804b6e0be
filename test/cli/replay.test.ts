// For src/cli/replay/
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { caseOfThread } from "../../src/replay/case-of-thread.ts";
import { parseCases } from "../../src/replay/case-file.ts";
import { shopChannel, openShopper } from "../models/shopper.ts";
import { openServer, tool } from "../agent/mcp/sessions.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { call, hang, startModelServer } from "../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { TINY_PNG } from "../support/images.ts";
import { startTestService, TEST_KEY } from "../support/servers/service.ts";
import { systemClock } from "../../src/clock.ts";
import { openEmbeddedStore } from "../../src/stores/embedded.ts";
import { openModel } from "../../src/installation/open-model.ts";
import { readConfig } from "../../src/config.ts";
import { openTestTerminal, runCommand } from "../support/terminal.ts";

/** Calls a tool of the server, then one of the page, then says what they answered. */
const script = ({ body }: ModelServerRequest): ScriptedTurn => {
  const results = body.messages.flatMap(({ role, content }) =>
    role === "tool" && typeof content === "string" ? [content] : [],
  );
  const asked = body.messages.filter(({ role }) => role === "user").length;
  if (results.length === 2 * (asked - 1)) return [call("find", { word: "mug" }, `call_${asked}_a`)];
  if (results.length === 2 * asked - 1) return [call("buy", { sku: "mug-1" }, `call_${asked}_b`)];
  return `Done: ${results.slice(-2).join(", ")}`;
};

/** A running service with a shop, and what reaches its model and its server. */
async function openShop() {
  const dataDir = temporaryFolder();
  const models = await startModelServer(script);
  onTestFinished(() => models.close());
  const env = { DATA_DIR: dataDir, OPENAI_BASE_URL: models.baseUrl, OPENAI_MODEL: "m", MCP_PRIVATE: "on" };
  const store = await openEmbeddedStore({ dataDir, clock: systemClock });
  const model = await openModel(readConfig(env));
  const server = await openServer([[tool("find", { description: "Finds things" })]]);
  const agent = {
    instructions: "Sell.",
    images: true,
    mcpServers: { shop: { url: server.url, headers: { "x-key": "canary" } } },
  };
  const service = await startTestService({ store, model, channels: [shopChannel(agent)], env });
  onTestFinished(async () => {
    await model.close();
    await store.close();
  });
  return { env, store, models, server, url: service.url };
}

/** The same, with a thread of two exchanges. */
async function running() {
  const shop = await openShop();
  const shopper = await openShopper(() => shop.url);
  for (const text of ["A mug, please", "And another"]) {
    const [last] = (await shopper.say(text)).slice(-1);
    if (last) await shopper.answer(last);
  }
  const [user] = await shop.store.users("shop");
  const [thread] = await shop.store.threads("shop", user?.userId ?? "");
  const { uid = "", threadId = "" } = thread ?? {};
  return { ...shop, uid, threadId, userId: user?.userId ?? "" };
}

test("a thread beside a running service is replayed with the requests of the real run, and touches nothing", async () => {
  const { env, store, models, server, uid } = await running();
  const real = models.requests.map(({ body }) => body);
  expect(real).toHaveLength(6);
  const [calls, record] = [server.calls.length, await store.load(uid, 1_000_000)];

  const { code, out, err } = await runCommand(env, ["replay", "shop", uid]);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^exchanges +2: 2 as recorded, 0 different, 0 not played$/m);
  expect(models.requests.slice(6).map(({ body }) => body)).toEqual(real);
  expect(server.calls.length).toBe(calls);
  expect(await store.load(uid, 1_000_000)).toEqual(record);
});

test("images, and what the site knows of its user, are told as in the real run", async () => {
  const { env, models, url } = await openShop();
  for (const attachments of [
    [{ url: TINY_PNG, name: "dot.png" }, { url: "https://cdn.example/a.png" }],
    [],
  ]) {
    const said = { threadId: "t", userId: "ada", channel: "shop", text: "Find it", attachments };
    const response = await fetch(`${url}/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ ...said, attributes: { plan: "gold" } }),
    });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  }
  const real = models.requests.map(({ body }) => body);
  expect(JSON.stringify(real)).toContain(TINY_PNG);
  expect(JSON.stringify(real)).toContain("gold");

  const { code, err } = await runCommand(env, ["replay", "shop", "t", "--user", "ada"]);
  expect([code, err]).toEqual([0, ""]);
  expect(models.requests.slice(real.length).map(({ body }) => body)).toEqual(real);
});

test("--save adds a thread to a file, without what is secret; the file is replayed without the store", async () => {
  const { env, uid } = await running();
  const file = join(temporaryFolder(), "cases.json");
  for (let times = 0; times < 2; times += 1)
    expect(await runCommand(env, ["replay", "shop", uid, "--save", file])).toMatchObject({
      code: 0,
      out: "",
    });
  const text = readFileSync(file, "utf8");
  expect(text).not.toContain("canary");
  const [recorded, ...others] = parseCases(text);
  expect(others).toEqual([]);
  expect(recorded).toMatchObject({
    name: `shop ${uid}`,
    channel: "shop",
    api: "widget",
    agent: { instructions: "Sell." },
    tools: [{ server: "shop", name: "find", description: "Finds things" }],
    pageTools: [{ name: "buy" }],
    exchanges: [
      {
        user: "A mug, please",
        calls: [
          { tool: "find", arguments: { word: "mug" }, result: "find did it" },
          { tool: "buy", arguments: { sku: "mug-1" }, result: "It is in the cart." },
        ],
        reply: "Done: find did it, It is in the cart.",
      },
      { user: "And another" },
    ],
  });
  const { OPENAI_BASE_URL } = env;
  const { code } = await runCommand({ OPENAI_BASE_URL, DATA_DIR: "/nowhere" }, ["replay", file]);
  expect(code).toBe(0);
});

test("without the list of the servers' tools, those that were called are offered by their names", async () => {
  const { env, models, uid } = await running();
  const { code, err } = await runCommand(env, ["replay", "shop", uid, "--no-list-tools"]);
  expect(err).toBe("Known from their calls alone, and offered without a description: find.\n");
  expect(code).toBe(0);
  expect(models.requests.at(-1)?.body.tools?.map((each) => "function" in each && each.function.name)).toEqual(
    ["find", "buy", "task_failed"],
  );
});

test("a case says that it keeps no files", () => {
  const file = { id: "f1", name: "bill.pdf", type: "application/pdf" as const, bytes: 9 };
  const said = { id: "1", role: "user" as const, content: "", createdAtMs: 1, runId: "r1", files: [file] };
  const { notes } = caseOfThread({
    slug: "shop",
    uid: "u1",
    agent: { instructions: "Sell." },
    catalog: [],
    serverTools: [],
    messages: [said],
    api: "widget",
    speaker: null,
    usage: new Map(),
  });
  expect(notes).toEqual(["A case keeps no files: what those of 1 messages say is not told to the model."]);
});

const exchanges = [{ user: "Hi", reply: "Hello" }];

test.each<[what: string, file: unknown, args: string[], complaint: RegExp]>([
  [
    "a file of another shape",
    { cases: [{ name: "a" }] },
    [],
    /Cannot read the cases in .*: cases\[0\]\.exchanges/,
  ],
  [
    "a judge check without a judge",
    { name: "a", exchanges, checks: { judge: "kind" } },
    [],
    /--judge-model is missing/,
  ],
  [
    "prices of another shape",
    { name: "a", exchanges },
    ["--prices", "package.json"],
    /Cannot read the prices in/,
  ],
  ["instructions that are not there", { name: "a", exchanges }, ["--instructions", "/nowhere.txt"], /ENOENT/],
])("%s is refused in one line", async (_what, file, args, complaint) => {
  const path = join(temporaryFolder(), "cases.json");
  writeFileSync(path, JSON.stringify(file));
  const { code, err } = await runCommand({}, ["replay", path, ...args]);
  expect(code).toBe(1);
  expect(err).toMatch(complaint);
  expect(err.trimEnd()).not.toContain("\n");
});

test("a model that no provider has is refused before anything is asked", async () => {
  const folder = temporaryFolder();
  const [file, providers] = [join(folder, "cases.json"), join(folder, "providers.json")];
  writeFileSync(file, JSON.stringify({ name: "a", exchanges }));
  const local = { baseUrl: "http://127.0.0.1:9/v1" };
  writeFileSync(providers, JSON.stringify({ providers: { a: local, b: local }, models: { default: "a/x" } }));
  const { code, err } = await runCommand({ PROVIDERS_FILE: providers }, ["replay", file, "--model", "c/d"]);
  expect([code, err]).toEqual([
    1,
    "Cannot find the model c/d: no provider has it; --model names another one\n",
  ]);
});

test.each([
  [["replay"], "missing required argument"],
  [["replay", "cases.json", "--save", "x.json"], "--save takes a stored thread"],
  [["replay", "cases.json", "--concurrency", "0"], "whole number from 1"],
])("wrong use %j exits 2 and says what is wrong", async (args, complaint) => {
  const { code, err } = await runCommand({}, args);
  expect(code).toBe(2);
  expect(err).toContain(complaint);
});

test("a thread is found by the caller's own id of it", async () => {
  const { env, threadId, userId } = await running();
  const { code, out } = await runCommand(env, ["replay", "shop", threadId, "--user", userId]);
  expect(code).toBe(0);
  expect(out).toMatch(/^exchanges +2: 2 as recorded/m);
});

test("a thread that is not there is told", async () => {
  const { env } = await running();
  expect(await runCommand(env, ["replay", "shop", "nobody"])).toMatchObject({
    code: 1,
    err: "Cannot find thread nobody: channel shop has none of that id; your own id of it needs --user\n",
  });
});

test("Ctrl-C ends the replay, and what is under way", async () => {
  const models = await startModelServer([[hang()]]);
  onTestFinished(() => models.close());
  const path = join(temporaryFolder(), "cases.json");
  writeFileSync(path, JSON.stringify({ name: "a", exchanges }));
  const terminal = openTestTerminal({ OPENAI_BASE_URL: models.baseUrl });
  const running = runProgram(["replay", path], terminal);
  await models.requested(1);
  terminal.interrupt();
  expect(await running).toBe(1);
  expect(terminal.written).toEqual({ out: "", err: "Stopped\n" });
  await models.requests[0]?.left;
});
