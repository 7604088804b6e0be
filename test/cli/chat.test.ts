// For src/cli/chat/
import { expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { openServer } from "../agent/mcp/sessions.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { openHttpServer } from "../support/servers/http-server.ts";
import { call, hold, reset, say } from "../support/servers/model-server.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { startTestService, TEST_KEY } from "../support/servers/service.ts";
import { openTestTerminal, runCommand } from "../support/terminal.ts";

const env = { HARNESS_API_KEY: TEST_KEY };

test("from a pipe each line is a message of one thread, and stdout carries the replies alone", async () => {
  const { server, model } = await openScriptedModel(["It is noon.", "Good bye!"]);
  const { url } = await startTestService({ model });
  const ran = await runCommand(env, ["chat", "--url", url], "What time is it?\n\nBye\n");
  expect(ran).toEqual({ code: 0, out: "It is noon.\nGood bye!\n", err: "" });
  expect(JSON.stringify(server.requests[1]?.body.messages)).toContain("It is noon.");
});

test("the service's address may have a path, and blank lines are not sent", async () => {
  const asked: string[] = [];
  const origin = await openHttpServer((request, response) => {
    asked.push(request.url ?? "");
    response.end('{"type":"done","elapsedMs":1}\n');
  });
  const { code } = await runCommand(env, ["chat", "--url", `${origin}/api/`], "Hello\n  \nBye\n");
  expect([code, asked]).toEqual([0, ["/api/v1/messages", "/api/v1/messages"]]);
});

test("--thread and --user go on with a conversation", async () => {
  const { server, model } = await openScriptedModel();
  const { url } = await startTestService({ model });
  const args = ["chat", "--url", url, "--thread", "t1", "--user", "ada"];
  await runCommand(env, args, "My name is Ada\n");
  await runCommand(env, args, "Who am I?\n");
  expect(JSON.stringify(server.requests[1]?.body.messages)).toContain("My name is Ada");
});

test("steps and error lines are told beside the reply, and a failed message ends a pipe with 1", async () => {
  const failure = [call("task_failed", { reason: "There is no such order" })];
  const tools = [call("order_status", { orderId: "1001" })];
  const { model } = await openScriptedModel([tools, failure]);
  const shop = await openServer([[{ name: "order_status", inputSchema: { type: "object" } }]]);
  const { store, directory, url } = await startTestService({ model, env: { MCP_PRIVATE: "on" } });
  const cli = await store.channel("cli");
  if (cli === null) throw new Error("Cannot go on: no channel");
  await store.putChannel({ ...cli, agent: { mcpServers: { shop: { url: shop.url } } } });
  await directory.renew();
  const { code, out, err } = await runCommand(env, ["chat", "--url", url], "Where is it?\nNever sent\n");
  expect(code).toBe(1);
  expect(out).toBe("");
  expect(err).toContain("[running] order_status");
  expect(err).toContain("[done] order_status\n");
  expect(err).toContain("There is no such order");
});

test("a model that breaks off is told in one line", async () => {
  const { model } = await openScriptedModel([[say("Hel"), reset()]]);
  const { url } = await startTestService({ model });
  const { code, out, err } = await runCommand(env, ["chat", "--url", url], "Hello\n");
  expect(code).toBe(1);
  expect(out).toBe("Hel\n");
  expect(err).toMatch(/Cannot go on: the last message was not answered\n$/);
});

test("Ctrl-C cancels the run and ends with 0", async () => {
  const { server, model } = await openScriptedModel([[say("Hel"), hold()]]);
  const service = await startTestService({ model });
  const terminal = openTestTerminal(env);
  const ended = runProgram(["chat", "--url", service.url, "--thread", "t1", "--user", "ada"], terminal);
  terminal.input.write("Hello\n");
  await server.held();
  await expect.poll(() => terminal.written.out).toBe("Hel");
  terminal.interrupt();
  expect(await ended).toBe(0);
  expect(terminal.written.err).toBe("Cancelled.\n");
  const user = await service.store.findUser("cli", "ada");
  const [thread] = await service.store.threads("cli", user?.userId ?? "");
  await expect
    .poll(async () => (await service.store.load(thread?.uid ?? "", 1))?.run?.outcome)
    .toBe("cancelled");
});

test("Ctrl-C says so where the service does not confirm the cancel", async () => {
  const url = await openHttpServer((request, response) => {
    if (request.url === "/v1/messages") response.write('{"type":"delta","text":"Hel"}\n');
    else response.writeHead(500).end();
  });
  const terminal = openTestTerminal(env);
  const ended = runProgram(["chat", "--url", url], terminal);
  terminal.input.write("Hi\nNever sent\n");
  await expect.poll(() => terminal.written.out).toBe("Hel");
  terminal.interrupt();
  expect(await ended).toBe(0);
  expect(terminal.written.err).toMatch(/^The service did not confirm the cancel: [^\n]+\n$/);
});

test("Ctrl-C at the prompt ends with 0", async () => {
  const { url } = await startTestService();
  const terminal = openTestTerminal(env);
  const ended = runProgram(["chat", "--url", url], terminal);
  await new Promise((resolve) => setImmediate(resolve));
  terminal.interrupt();
  expect(await ended).toBe(0);
});

test("what a model says does not steer a terminal", async () => {
  const { model } = await openScriptedModel(["\u001b[2Jgone"]);
  const { url } = await startTestService({ model });
  const terminal = { ...openTestTerminal(env), interactive: true };
  terminal.input.end("Hello\n");
  expect(await runProgram(["chat", "--url", url], terminal)).toBe(0);
  expect(terminal.written.out).toContain("gone");
  expect(terminal.written.out).not.toContain("\u001b[2J");
});

test.each([
  ["a wrong key", ["--key", "wrong"], "refuses the key"],
  ["an unknown channel", ["--channel", "nope"], "there is none of that slug"],
])("%s is told, and ends with 1", async (_name, args, complaint) => {
  const { url } = await startTestService();
  const { code, err } = await runCommand(env, ["chat", "--url", url, ...args], "Hello\n");
  expect(code).toBe(1);
  expect(err).toContain(complaint);
});

test("a service that is not there is told, and ends with 1", async () => {
  const service = await startTestService();
  await service.stop(0);
  const { code, err } = await runCommand(env, ["chat", "--url", service.url], "Hello\n");
  expect(code).toBe(1);
  expect(err).toContain(`Cannot reach ${service.url} (ECONNREFUSED)`);
});

test("without a key anywhere it says where it looked", async () => {
  const { code, err } = await runCommand({ DATA_DIR: temporaryFolder() }, ["chat"], "Hello\n");
  expect(code).toBe(1);
  expect(err).toContain("--key and HARNESS_API_KEY are unset");
});
