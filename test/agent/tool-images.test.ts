// For src/agent/tool-images.ts, src/agent/mcp/tool-result.ts, src/domain/threads/told-images.ts,
// src/domain/threads/image-data.ts
import { expect, test } from "vitest";
import { toolAnswer } from "../../src/agent/mcp/tool-result.ts";
import { buildPrompt } from "../../src/agent/prompt.ts";
import type { TurnItem } from "../../src/domain/threads/message.ts";
import { withResultImages } from "../../src/domain/threads/told-images.ts";
import { shopChannel } from "../models/shopper.ts";
import { TINY_PNG } from "../support/images.ts";
import { call } from "../support/servers/model-server.ts";
import { openScriptedModel } from "../support/servers/open-model.ts";
import { sendMessage, startTestService } from "../support/servers/service.ts";
import { newRun } from "./run.ts";
import { openServer, tool } from "./mcp/sessions.ts";

const DATA = TINY_PNG.slice(TINY_PNG.indexOf(",") + 1);
const image = (more: object = {}) => ({ type: "image" as const, data: DATA, mimeType: "image/png", ...more });
const SEEN = "[image: it follows the results; if it does not, it cannot be shown to you]";

async function played(images: boolean) {
  const server = await openServer([[tool("photo")]], () =>
    Promise.resolve({ content: [{ type: "text", text: "A shoe" }, image()] }),
  );
  const { model, server: asked } = await openScriptedModel([[call("photo")], "Red.", "Yes."]);
  const agent = { images, mcpServers: { shop: { url: server.url } } };
  const { url } = await startTestService({
    model,
    channels: [shopChannel(agent)],
    env: { MCP_PRIVATE: "on" },
  });
  const say = (text: string) => sendMessage(url, { threadId: "t", userId: "u", text, channel: "shop" });
  await say("Which colour?");
  return { say, messages: (nth: number) => asked.requests[nth]?.body.messages ?? [] };
}

test("a tool's image is shown to a model that takes images, after the results and not as the visitor's", async () => {
  const { messages, say } = await played(true);
  const [result, shown] = messages(1).slice(-2);
  expect(result).toMatchObject({ role: "tool", content: `A shoe\n${SEEN}` });
  expect(shown).toMatchObject({
    role: "user",
    content: [
      { type: "text", text: expect.stringContaining("The visitor did not send them") },
      { type: "image_url", image_url: { url: TINY_PNG } },
    ],
  });
  // It was the run's: later ones read that there was one.
  await say("Sure?");
  expect(JSON.stringify(messages(2))).toContain(SEEN);
  expect(JSON.stringify(messages(2))).not.toContain(DATA);
});

test("to one that takes none it is named", async () => {
  const { messages } = await played(false);
  expect(messages(1).at(-1)).toMatchObject({
    role: "tool",
    content: "A shoe\n[image image/png: it cannot be shown to you]",
  });
});

test.each([
  ["of another type", image({ mimeType: "image/svg+xml" })],
  ["that is not of its type", image({ mimeType: "image/jpeg" })],
  ["whose base64 is none", image({ data: `${DATA}*` })],
  ["that is longer than a message", image({ data: DATA + "A".repeat(1_048_576) })],
  ["without data", image({ data: 7 })],
])("an image %s is named", (_, part) => {
  const answer = toolAnswer({ content: [part] }, true);
  expect(answer).toEqual({
    text: expect.stringMatching(/^\[image .*: it cannot be shown to you\]$/),
    isError: false,
  });
});

test("of a result as many are shown as a message may have, also of one that failed", () => {
  const answer = toolAnswer({ content: Array.from({ length: 6 }, () => image()), isError: true }, true);
  expect(answer.images).toHaveLength(4);
  expect(answer.isError).toBe(true);
  expect(answer.text.split("\n").filter((line) => line === SEEN)).toHaveLength(4);
});

test("of a run the newest eight are kept, and a result's stay together", () => {
  const results = ["a", "b", "c"].map((callId) => [callId, Array(3).fill(TINY_PNG) as string[]] as const);
  const kept = results.reduce<ReadonlyMap<string, readonly string[]>>(
    (known, [callId, images]) => withResultImages(known, callId, images),
    new Map(),
  );
  expect([...kept.keys()]).toEqual(["b", "c"]);
  const long = ["a", "b"].map((callId) => [callId, ["x".repeat(4_500_000)]] as const);
  const fitting = long.reduce<ReadonlyMap<string, readonly string[]>>(
    (known, [callId, images]) => withResultImages(known, callId, images),
    new Map(),
  );
  expect([...fitting.keys()]).toEqual(["b"]);
});

test("images that do not fit into the model's input are left out, and not the question", () => {
  const turns: TurnItem[] = [
    {
      type: "assistant",
      text: "",
      calls: [{ callId: "a", offeredName: "photo", arguments: "{}", modelCallId: "m" }],
    },
    { type: "result", callId: "a", text: SEEN, isError: false },
  ];
  const prompt = (maxInputTokens: number) =>
    buildPrompt({
      instructions: undefined,
      run: newRun({ turns }),
      text: "Which colour?",
      before: [],
      hasTools: true,
      toolImages: new Map([["a", [TINY_PNG]]]),
      maxInputTokens,
    }).map(({ role }) => role);
  expect(prompt(2_000)).toEqual(["system", "user", "assistant", "tool", "user"]);
  expect(prompt(500)).toEqual(["system", "user", "assistant", "tool"]);
});
