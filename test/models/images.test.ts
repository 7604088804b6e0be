// For src/models/request/user-content.ts, src/models/plain-picture.ts
import { expect, onTestFinished, test } from "vitest";
import { ModelFault } from "../../src/model.ts";
import type { AttachedImage } from "../../src/model.ts";
import { openOpenAi } from "../../src/models/openai.ts";
import type { OpenAiOptions } from "../../src/models/openai.ts";
import { startModelServer, status } from "../support/servers/model-server.ts";
import type { Script } from "../support/servers/model-server.ts";
import { imageOf, TINY_PNG } from "../support/images.ts";
import { noPause, startTurn } from "../support/servers/open-model.ts";

const png: AttachedImage = { label: "dot.png, image/png", url: TINY_PNG };
const past: AttachedImage = { label: "old.gif, image/gif", url: null };

async function open(script?: Script, options: Partial<OpenAiOptions> = {}) {
  const server = await startModelServer(script);
  const { baseUrl } = server;
  const model = openOpenAi({ apiKey: null, baseUrl, silenceMs: 30_000, pause: noPause, ...options });
  onTestFinished(async () => {
    await model.close();
    await server.close();
  });
  const ask = (images: AttachedImage[], content = "What is this?") =>
    startTurn(model, { request: { messages: [{ role: "user", content, images }] } }).turn;
  const contents = () => server.requests.map(({ body }) => body.messages.at(-1)?.content);
  return { ask, contents };
}

const shown = [
  { type: "text", text: "What is this?" },
  { type: "image_url", image_url: { url: TINY_PNG } },
];
const named = "What is this?\n[Image that you cannot see: dot.png, image/png]";

test("images are shown to a model that sees; those of the past are named", async () => {
  const { ask, contents } = await open();
  await ask([png]);
  await ask([past, png]);
  await ask([past]);
  const text = "What is this?\n[Image, not shown again: old.gif, image/gif]";
  expect(contents()).toEqual([shown, [{ type: "text", text }, shown[1]], text]);
});

test("they are named to a model that is said not to see", async () => {
  const { ask, contents } = await open([], { quirks: { images: false } });
  await ask([png, past]);
  expect(contents()).toEqual([`${named}\n[Image, not shown again: old.gif, image/gif]`]);
});

test("a server that refuses images is not sent any again", async () => {
  const refusal = status(
    400,
    {},
    JSON.stringify({ error: { message: "Model does not support images. Please use a model that does." } }),
  );
  const { ask, contents } = await open([[refusal], "A shoe?", "Still a shoe?"], { profile: "lmstudio" });
  expect((await ask([png])).text).toBe("A shoe?");
  expect((await ask([png])).text).toBe("Still a shoe?");
  expect(contents()).toEqual([shown, named, named]);
});

test("a server that refuses one image is asked without it, and shown the next one", async () => {
  const message = "The image data you provided does not represent a valid image.";
  const refusal = status(400, {}, JSON.stringify({ error: { message } }));
  const { ask, contents } = await open([[refusal], "I cannot see it", "A dot"]);
  expect((await ask([png])).text).toBe("I cannot see it");
  expect((await ask([png])).text).toBe("A dot");
  expect(contents()).toEqual([shown, named, shown]);
});

test("a server that refuses the message without its image as well is asked no more", async () => {
  const refusal = status(400, {}, JSON.stringify({ error: { message: "image: no" } }));
  const { ask, contents } = await open([[refusal], [refusal], "unlikely"]);
  await expect(ask([{ ...png, url: imageOf("gif") }])).rejects.toThrow(ModelFault);
  expect(contents()).toHaveLength(2);
});

test("an image stays with its message where a system message has no role of its own", async () => {
  const { contents, ask } = await open([], { quirks: { systemRole: false } });
  await ask([png], "Hi");
  expect(contents()).toEqual([[{ type: "text", text: "Hi" }, shown[1]]]);
});
