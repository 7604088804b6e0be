// For src/client/create-client.ts, src/client/follow-events.ts
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../../src/client/create-client.ts";
import { openOpenAi } from "../../src/models/openai.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { hold, lastUserText, say, startModelServer } from "../support/servers/model-server.ts";
import { startTestService, TEST_KEY } from "../support/servers/service.ts";
import { startBotApi } from "./bot-api.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The README's bot, in a folder where the package is installed. */
function botFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/chat-agent-service"));
  const section =
    readFileSync(join(root, "src/client/README.md"), "utf8").split("## A bot in 40 lines")[1] ?? "";
  writeFileSync(join(folder, "bot.mjs"), /^```js\n(.*?)^```/ms.exec(section)?.[1] ?? "");
  return folder;
}

test("the README's bot, killed twice between an update and its reply, says the message once and replies once", async () => {
  const far = await startModelServer((request) => {
    const said = lastUserText(request);
    return said === "wait" ? [say("One "), say("two "), hold(), say("three.")] : `You said: ${said}`;
  });
  onTestFinished(() => far.close());
  const model = openOpenAi({ apiKey: null, baseUrl: far.baseUrl, silenceMs: 60_000 });
  onTestFinished(() => model.close());
  const service = await startTestService({ model });
  const api = await startBotApi();
  const cwd = botFolder();

  const bots: ChildProcess[] = [];
  const kill = async () => {
    const bot = bots.at(-1);
    if (bot?.exitCode !== null || bot.signalCode !== null) return;
    bot.kill("SIGKILL");
    await once(bot, "exit");
  };
  onTestFinished(kill);
  const start = () => {
    const env = { BASE: service.url, KEY: TEST_KEY, BOT: api.url };
    bots.push(spawn(process.execPath, ["bot.mjs"], { cwd, env, stdio: "inherit" }));
  };

  const held = far.held();
  const lost = api.loseNextMessage();
  api.write("wait");
  start();
  await Promise.all([held, lost]);
  // It dies before its first word in the chat, and again in the middle of the reply.
  await kill();
  start();
  await expect.poll(() => api.chat).toEqual(["One two"]);
  await kill();
  start();
  far.release();
  await expect.poll(() => api.chat).toEqual(["One two three."]);
  await expect.poll(() => api.confirmed()).toBe(1);
  api.write("Hello");
  await expect.poll(() => api.chat).toEqual(["One two three.", "You said: Hello"]);

  const client = createClient({ baseUrl: service.url, key: TEST_KEY });
  const history = await client.history({ threadId: "telegram-12", userId: "telegram-7" });
  expect(history.map(({ content, clientMessageId }) => [content.trim(), clientMessageId])).toEqual([
    ["wait", "0"],
    ["One two three.", undefined],
    ["Hello", "1"],
    ["You said: Hello", undefined],
  ]);
});
