// For src/client/
import { execFile } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { hold, hang, lastUserText, say } from "../../support/servers/model-server.ts";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import { startTestService, TEST_KEY } from "../../support/servers/service.ts";
import { openCuttingProxy } from "./cutting-proxy.ts";

/**
 * The built client, as the package has it, in a process of this Node; with `npm run client-runtimes` also in all runtimes
 * that it is for, which npm brings.
 */
const fromNpm = (name: string, ...args: string[]) => ["npx", "-y", "-p", name, ...args];

/** The client asks for the network alone; to load a file whose name is in a variable is to read it. */
const DENO = [
  "deno",
  "run",
  "--no-config",
  "--allow-net=127.0.0.1",
  "--allow-env=CLIENT,BASE,KEY",
  "--allow-read=dist/src/client",
];
const OTHERS: (readonly [string, readonly string[]])[] = [
  ["Node 20", fromNpm("node@20", "node")],
  ["Node 22", fromNpm("node@22", "node")],
  ["Node 24", fromNpm("node@24", "node")],
  ["Node 26", fromNpm("node@26", "node")],
  ["Deno", fromNpm("deno", ...DENO)],
  ["Bun", fromNpm("bun", "bun")],
];
const RUNTIMES: typeof OTHERS = [
  ["this Node", [process.execPath]],
  ...(process.env["CLIENT_RUNTIMES"] === "all" ? OTHERS : []),
];

const root = new URL("../../../", import.meta.url);
const SCRIPT = fileURLToPath(new URL("every-call.mjs", import.meta.url));
const CLIENT = pathToFileURL(fileURLToPath(new URL("dist/src/client/create-client.js", root))).href;

test.each(RUNTIMES)("every call of the client does in %s what its types say", async (_name, command) => {
  const { server, model } = await openScriptedModel((request) => {
    const said = lastUserText(request);
    if (said === "wait for ever") return [say("Once "), hang()];
    return said === "wait" ? [say("One "), say("two "), hold(), say("three.")] : `You said: ${said}`;
  });
  const service = await startTestService({ model });
  const isWaiting = (body: string) => body.includes('"text":"wait"');
  const proxy = await openCuttingProxy(service.url, isWaiting, () => server.release());
  const [program = "", ...args] = command;
  const env = { ...process.env, CLIENT, BASE: proxy.url, KEY: TEST_KEY, NO_COLOR: "1" };
  const { stdout } = await promisify(execFile)(program, [...args, SCRIPT], {
    env,
    cwd: root,
    timeout: 150_000,
  });

  expect(JSON.parse(stdout)).toEqual({
    said: { lines: "You said: Hello, 🦉[done]", text: "You said: Hello, 🦉", end: "done" },
    saidOverACut: { lines: "One two three.[done]", said: ["wait", "One two three."] },
    followed: ["Hello, 🦉", "You said: Hello, 🦉"],
    left: "left",
    stopped: "cancelled",
    rated: { rating: "up", comment: "Thanks" },
    listed: { ids: ["a/b", "cut", "stopped"], next: null },
    mayTalk: true,
    unknownChannel: 404,
    wrongKey: 401,
    wrongSecretKey: 401,
  });
  expect(proxy.repeats()).toBe(1);
});
