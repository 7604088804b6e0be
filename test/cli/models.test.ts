// For src/cli/models.ts, src/models/check-model.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../support/servers/free-port.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";
import { bytes, call, cut, startModelServer, status } from "../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { runCommand } from "../support/terminal.ts";

async function serverOf(script: (request: ModelServerRequest, nth: number) => ScriptedTurn): Promise<string> {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  return server.baseUrl;
}

/** Is its last message shown a PNG? */
function showsImage({ messages }: ModelServerRequest["body"]): boolean {
  const content = messages.at(-1)?.content;
  if (!Array.isArray(content)) return false;
  return content.some((part) => part.type === "image_url" && part.image_url.url.startsWith("data:image/png"));
}

const able = () =>
  serverOf(({ body }) => {
    const last = body.messages.at(-1);
    if (showsImage(body)) return "Purple.";
    if (body.tools && last?.role === "user") return [call("clock")];
    return last?.role === "tool" ? "It is half past twelve." : "one two three";
  });

function fileOf(file: object): Record<string, string> {
  const path = join(temporaryFolder(), "providers.json");
  writeFileSync(path, JSON.stringify(file));
  return { PROVIDERS_FILE: path };
}

test("models check says what each can do, and exits 1 where one cannot chat", async () => {
  const wordy = await serverOf(({ body }) =>
    body.tools ? [status(400, {}, '{"error":"x does not support tools"}')] : "one two",
  );
  const answer = { choices: [{ message: { role: "assistant", content: "one two" }, finish_reason: "stop" }] };
  const whole = await serverOf(() => [bytes(JSON.stringify(answer)), cut()]);
  const closed = await serverOf(() => [status(401)]);
  const env = fileOf({
    providers: {
      able: { baseUrl: await able() },
      wordy: { baseUrl: wordy },
      whole: { baseUrl: whole },
      closed: { baseUrl: closed, apiKey: "sk-canary" },
      nobody: { baseUrl: `http://127.0.0.1:${await freePort()}/v1` },
    },
    models: { default: ["able/a", "wordy/b"], shut: "closed/c", whole: "whole/d", away: "nobody/e" },
  });
  const listed = await runCommand(env, ["models", "list"]);
  expect(listed).toMatchObject({
    code: 0,
    out: "NAME     ANSWERS\ndefault  able/a, wordy/b\nshut     closed/c\nwhole    whole/d\naway     nobody/e\n",
  });

  const { code, out, err } = await runCommand(env, ["models", "check"]);
  expect(out.split("\n").slice(0, 6)).toEqual([
    expect.stringMatching(/^MODEL +WAY +WORD +STREAM +TOOL CALL +SECOND TURN +USAGE +IMAGES +NOTE$/),
    expect.stringMatching(/^able\/a +chat +yes +yes +yes +yes +yes +yes +-$/),
    expect.stringMatching(/^wordy\/b +chat +yes +yes +no +no +yes +no +-$/),
    expect.stringMatching(
      /^closed\/c +chat +no +no +no +no +no +no +The model answered with an error \(401\): it does not take the key$/,
    ),
    expect.stringMatching(/^whole\/d +chat +yes +no +no +no +no +no +-$/),
    expect.stringMatching(
      /^nobody\/e +chat +no .*The model cannot be reached: ECONNREFUSED; look at its base URL$/,
    ),
  ]);
  expect([code, err]).toEqual([1, "Cannot chat: closed/c, nobody/e\n"]);
  expect(out + err).not.toContain("canary");

  const one = await runCommand(env, ["models", "check", "default", "--json"]);
  expect(one.code).toBe(0);
  expect(JSON.parse(one.out)).toMatchObject([
    { model: "able/a", secondTurn: true },
    { model: "wordy/b", toolCall: false },
  ]);
  expect(await runCommand(env, ["models", "check", "nobody"])).toMatchObject({
    code: 1,
    err: "Cannot find the model nobody: no provider has it\n",
  });
});

test("without a file the variables' model is asked for, and without those the demo", async () => {
  const env = { OPENAI_BASE_URL: await able(), OPENAI_MODEL: "vendor/model" };
  expect((await runCommand(env, ["models", "check"])).out).toMatch(
    /^vendor\/model +chat +yes +yes +yes +yes +yes +yes/m,
  );
  const demo = await runCommand({}, ["models", "check", "--json"]);
  expect(demo.code).toBe(0);
  expect(JSON.parse(demo.out)).toMatchObject([
    { model: "demo", word: true, stream: true, toolCall: true, secondTurn: true, usage: true, images: true },
  ]);
});

test.each([
  ["refuses images", [status(400, {}, '{"error":"this model does not support image inputs"}')], null],
  ["drops them and guesses", "Red, I would say.", null],
  ["fails at them", [status(418)], "The model answered with an error (418)"],
] as const)("models check: a model that %s cannot see, and can all else", async (_what, seen, note) => {
  const server = await serverOf(({ body }) => {
    if (showsImage(body)) return seen;
    const last = body.messages.at(-1);
    if (body.tools && last?.role === "user") return [call("clock")];
    return "I see no picture, and it is half past twelve.";
  });
  const env = { OPENAI_BASE_URL: server, OPENAI_MODEL: "m" };
  const { code, out } = await runCommand(env, ["models", "check", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject([{ word: true, secondTurn: true, images: false, note }]);
});
