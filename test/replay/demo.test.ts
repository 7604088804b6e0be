// For src/replay/, src/cli/replay/
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { call, startModelServer } from "../support/servers/model-server.ts";
import type { ModelServer, ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { runCommand } from "../support/terminal.ts";

/** Recorded with the demo model (write-demo.ts). */
const RECORDED = join(import.meta.dirname, "demo-conversations.ndjson");

interface Report {
  summary: Record<string, unknown>;
  cases: {
    name: string;
    exchanges: {
      recorded: { usage?: { input: number; output: number } };
      played: {
        turns: { usage: { input: number; output: number } }[];
        calls: { answeredBy: string | null }[];
      };
    }[];
  }[];
}

async function serverOf(script: (request: ModelServerRequest) => ScriptedTurn): Promise<ModelServer> {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  return server;
}

test("ten recorded demo conversations come out as they were, with all that the model is told", async () => {
  const junit = join(temporaryFolder(), "replay.xml");
  const args = ["replay", RECORDED, "--json", "--junit", junit, "--concurrency", "10"];
  const { code, out, err } = await runCommand({}, args);
  expect([code, err]).toEqual([0, ""]);
  const { summary, cases } = JSON.parse(out) as Report;
  expect(summary).toMatchObject({
    cases: 10,
    ended: 0,
    exchanges: { all: 14, asRecorded: 14, different: 0, notPlayed: 0 },
    checks: { all: 21, failed: 0 },
  });

  const exchanges = cases.flatMap((each) => each.exchanges);
  // The demo counts the characters of what it is asked: the same number is the same prompt, tools and history.
  const told = exchanges.filter(({ recorded }) => recorded.usage !== undefined);
  expect(told.length).toBeGreaterThan(10);
  for (const { recorded, played } of told) {
    const input = played.turns.reduce((sum, { usage }) => sum + usage.input, 0);
    expect(input).toBe(recorded.usage?.input);
  }
  const answers = exchanges.flatMap(({ played }) => played.calls.map(({ answeredBy }) => answeredBy));
  expect(answers.filter((by) => by === "record").length).toBe(10);
  expect(answers.filter((by) => by === null).length).toBe(1);

  const xml = readFileSync(junit, "utf8");
  expect(xml).toContain('<testsuites tests="10" failures="0" errors="0"');
  expect(xml.match(/<testcase /g)).toHaveLength(10);
});

/** A model that looks orders up and searches, unless it is told not to. */
const shopModel = ({ body }: ModelServerRequest): ScriptedTurn => {
  const system = JSON.stringify(body.messages[0]);
  const last = body.messages.at(-1);
  const text = typeof last?.content === "string" ? last.content : "";
  if (last?.role === "tool") return `I found: ${text}`;
  const order = /order (\d{4})/.exec(text)?.[1];
  if (system.includes("Never look anything up")) return "I would have to look that up.";
  return order === undefined ? "How can I help?" : [call("order_status", { orderId: order })];
};

test("changed instructions that make checks fail are told in a table, in JUnit and by exit code 1", async () => {
  const folder = temporaryFolder();
  const [orders, instructions, junit] = ["orders.ndjson", "new.txt", "r.xml"].map((name) =>
    join(folder, name),
  );
  const lines = readFileSync(RECORDED, "utf8").split("\n");
  writeFileSync(
    orders ?? "",
    lines.filter((line) => /^\{"name":"(an order|two orders)"/.test(line)).join("\n"),
  );
  writeFileSync(instructions ?? "", "Never look anything up.");
  const server = await serverOf(shopModel);
  const env = { OPENAI_BASE_URL: server.baseUrl };

  const before = await runCommand(env, ["replay", orders ?? "", "--model", "shop-1"]);
  expect(before.out).toMatch(/^checks +6 of 6 hold$/m);
  expect(before.code).toBe(0);
  expect(server.requests.every(({ body }) => body.model === "shop-1")).toBe(true);

  const args = ["replay", orders ?? "", "--instructions", instructions ?? "", "--junit", junit ?? ""];
  const after = await runCommand(env, args);
  expect([after.code, after.err]).toEqual([1, "Cannot pass: 4 of 6 checks failed\n"]);
  const rows = after.out.split("\n");
  expect(rows[0]).toMatch(/^CASE +# +RECORDED +NEW +CALLS +TOKENS$/);
  expect(rows[1]).toMatch(
    /^an order +1 +Order 1002 is being packed.*I would have to look that up\. +-order_status\(\{"orderId":"1002"\}\) +\d+ → \d+$/,
  );
  expect(after.out).toMatch(/^an order +all +contains +being packed +no reply contains it$/m);
  expect(after.out).toMatch(
    /^an order +all +calls +order_status\(\{"orderId":"1002"\}\) +it made no calls$/m,
  );
  expect(readFileSync(junit ?? "", "utf8")).toMatch(
    /<testsuites tests="2" failures="2".*name="an order".*<failure message="contains being packed: no reply contains it">/s,
  );
});

test("a case that does not come to its end is told, with what was played of it, and fails", async () => {
  const file = join(temporaryFolder(), "cases.json");
  const tools = [{ name: "order_status" }];
  const order = { tool: "order_status", arguments: { orderId: "1002" }, result: "Packed" };
  const exchanges = [{ user: "Where is order 1002?", calls: [order] }, { user: "Where is order 1003?" }];
  writeFileSync(file, JSON.stringify({ name: "orders", tools, exchanges }));
  const server = await serverOf(shopModel);
  const { code, out, err } = await runCommand({ OPENAI_BASE_URL: server.baseUrl }, ["replay", file]);
  expect([code, err]).toEqual([1, "Cannot pass: 1 case did not come to an end\n"]);
  expect(out.split("\n")).toEqual([
    expect.stringMatching(/^CASE +# +ENDED, FOR$/),
    expect.stringMatching(
      /^orders +2 +it called order_status\(\{"orderId":"1003"\}\), which was never called so/,
    ),
    "",
    expect.stringMatching(/^cases +1, of which 1 did not come to an end$/),
    expect.stringMatching(/^exchanges +2: 1 as recorded, 0 different, 1 not played$/),
    expect.stringMatching(/^checks +none$/),
    expect.stringMatching(/^tokens +\d+ in, \d+ out \(recorded: not told; unknown for 2 of 2\)$/),
    "",
  ]);
  // The tool model's answer is what the scripted one says to anything.
  const helped = await runCommand({ OPENAI_BASE_URL: server.baseUrl }, ["replay", file, "--tool-model", "t"]);
  expect(helped.code).toBe(0);
  expect(helped.out).toMatch(/^orders +2 +.*\+order_status\(\{"orderId":"1003"\}\)/m);
});
