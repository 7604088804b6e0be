// For src/models/reply/read-turn.ts, src/models/exchange/silence-timer.ts
import { expect, test } from "vitest";
import { bytes, cut, say, status, usage } from "../../support/servers/model-server.ts";
import { openScriptedModel } from "../../support/servers/open-model.ts";
import { sendMessage, startTestService } from "../../support/servers/service.ts";
import { chunk } from "../refusals/dialects.ts";
import { openShopper, shopChannel } from "../shopper.ts";

test("done tells that an answer was cut or withheld, and says nothing of one that came to its end", async () => {
  const { model } = await openScriptedModel([
    [chunk({ content: "Hel" }, "length")],
    [chunk({ content: "Hel" }, "content_filter")],
    [chunk({ content: "Hello" }, "stop")],
  ]);
  const { url } = await startTestService({ model });
  const ends = [];
  for (const text of ["a", "b", "c"])
    ends.push((await sendMessage(url, { threadId: "t", userId: "u", text })).lines.at(-1));
  expect(ends).toMatchObject([
    { type: "done", finishReason: "length" },
    { type: "done", finishReason: "content_filter" },
    { type: "done" },
  ]);
  expect(ends[2]).not.toHaveProperty("finishReason");
});

test("an empty answer is an error line with words, its tokens count, and the turns go on in turn", async () => {
  const { server, model } = await openScriptedModel([
    [chunk({ content: "<think>Hm, so long" }, "length"), usage(7, 3)],
    [chunk({ content: "Hello" }, "stop"), usage(9, 2)],
  ]);
  const service = await startTestService({ model, channels: [shopChannel()] });
  const shopper = await openShopper(() => service.url);
  const message = "The answer reached its length limit before its first word";
  expect(await shopper.say("Hi")).toEqual([{ type: "error", message }]);
  expect((await shopper.say("Hi?")).at(-1)).toMatchObject({ totalInputTokens: 16, totalOutputTokens: 5 });
  expect(server.requests[1]?.body.messages.slice(1)).toEqual([
    { role: "user", content: "Hi" },
    { role: "assistant", content: `<reply_failed>\n{"told":"${message}"}\n</reply_failed>` },
    { role: "user", content: "Hi?" },
  ]);
});

test("M26: an answer without a word is a run that failed, and the log says what it cost", async () => {
  const { model } = await openScriptedModel([
    [chunk({ role: "assistant" }), chunk({}, "stop"), usage(36_000, 0)],
    [chunk({}, "stop"), usage(7, 3)],
  ]);
  const { url, logged } = await startTestService({ model });
  for (const text of ["a", "b"])
    expect((await sendMessage(url, { threadId: "t", userId: "u", text })).lines).toEqual([
      { type: "error", message: "The model gave no answer" },
    ]);
  const written = logged
    .map((line) => JSON.parse(line) as { msg: string })
    .filter(({ msg }) => msg.startsWith("a run failed"));
  expect(written).toMatchObject([
    {
      msg: expect.stringMatching(/^a run failed: .*AGENT_MAX_INPUT_TOKENS/) as string,
      runId: expect.any(String) as string,
      model: "openai/gpt-5-mini",
      reason: "The model gave no answer",
      finishReason: "stop",
      inputTokens: 36_000,
      outputTokens: 0,
    },
    { msg: "a run failed: the model gave no answer", inputTokens: 7, outputTokens: 3 },
  ]);
});

test.each([
  [
    "Azure",
    {
      error: {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        param: "prompt",
        code: "content_filter",
        status: 400,
      },
    },
  ],
  ["OpenAI", { error: { message: "Invalid prompt: it was flagged", code: "invalid_prompt" } }],
  ["DeepSeek", { error: { message: "Content Exists Risk", type: "invalid_request_error" } }],
  ["Alibaba", { error: { code: "data_inspection_failed", message: "Input data may be inappropriate" } }],
])(
  "a message that the filter of %s refuses says so, and costs the thread no further one",
  async (_server, body) => {
    const { server, model } = await openScriptedModel(({ body: { messages } }) =>
      JSON.stringify(messages).includes("Bad words") ? [status(400, {}, JSON.stringify(body))] : "Hello",
    );
    const service = await startTestService({ model, channels: [shopChannel()] });
    const shopper = await openShopper(() => service.url);
    await shopper.say("Hi");
    const message = "The answer was withheld by the model's content filter";
    expect(await shopper.say("Bad words")).toEqual([{ type: "error", message }]);
    expect((await shopper.say("Sorry")).at(-1)).toMatchObject({ type: "done" });
    expect(server.requests.at(-1)?.body.messages.slice(1)).toEqual([
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "Sorry" },
    ]);
    // The visitor still sees what was said.
    expect((await shopper.history()).map(({ content }) => content)).toEqual([
      "Hi",
      "Hello",
      "Bad words",
      message,
      "Sorry",
      "Hello",
    ]);
  },
);

test("B12: a failure is marked in the history, and the model is told of it, not as its own words", async () => {
  const { server, model } = await openScriptedModel([[status(400)], "Hello"]);
  const service = await startTestService({ model, channels: [shopChannel()] });
  const shopper = await openShopper(() => service.url);
  await shopper.say("Hi");
  await shopper.say("Again");
  const message = "The model answered with an error (400)";
  const [, failed, , reply] = await shopper.history();
  expect(failed).toMatchObject({ role: "assistant", content: message, error: { message } });
  expect(reply).not.toHaveProperty("error");
  expect(server.requests[1]?.body.messages.slice(1)).toEqual([
    { role: "user", content: "Hi" },
    { role: "assistant", content: `<reply_failed>\n{"told":"${message}"}\n</reply_failed>` },
    { role: "user", content: "Again" },
  ]);
});

test.each([
  [
    "that breaks off before its end was cut off, once text was passed on",
    [say("Hel"), cut()],
    "The model's answer was cut off",
  ],
  ["without a byte was cut off, too", [bytes(""), cut()], "The model's answer was cut off"],
  [
    "that is no stream of events is not understood",
    [bytes("<html>Hello</html>"), cut()],
    "The model's answer was not understood",
  ],
])("an answer %s", async (_name, acts, message) => {
  const { model } = await openScriptedModel(() => acts);
  const request = {
    model: "m",
    messages: [{ role: "user" as const, content: "Hi" }],
    tools: [],
    maxOutputTokens: null,
    traceparent: null,
  };
  await expect(model.stream(request, () => {}, new AbortController().signal)).rejects.toThrow(message);
});
