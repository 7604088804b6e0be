// For src/models/input-fit.ts, src/models/refusals/too-long.ts
import { expect, onTestFinished, test } from "vitest";
import { ModelFault } from "../../../src/model.ts";
import type { SentRequest } from "../../../src/model.ts";
import { openProvider } from "../../../src/models/openai.ts";
import { openProviders } from "../../../src/models/providers.ts";
import { bytes, hold, say, startModelServer, status } from "../../support/servers/model-server.ts";
import type { ModelServerRequest } from "../../support/servers/model-server.ts";
import { noPause, openScriptedModel, startTurn } from "../../support/servers/open-model.ts";
import { ROOMY_LIMITS, startTestService } from "../../support/servers/service.ts";
import { openShopper, shopChannel, textOf } from "../shopper.ts";

/** The words of llama.cpp, of a model that takes so many tokens: three bytes to one. */
const small = (contextTokens: number) => (request: ModelServerRequest) => {
  const { messages, tools = [] } = request.body;
  const tokens = Math.ceil(JSON.stringify([messages, tools]).length / 3);
  if (tokens <= contextTokens) return "So it is.";
  const error = {
    code: 400,
    message: "the request exceeds the available context size, try increasing it",
    type: "exceed_context_size_error",
    n_prompt_tokens: tokens,
    n_ctx: contextTokens,
  };
  return [status(400, {}, JSON.stringify({ error }))];
};

const env = { ...ROOMY_LIMITS, WIDGET_MAX_TEXT_CHARS: "8000" };
const sentence = (nth: number) => `Message ${nth}: ${"many words ".repeat(90)}`;
const texts = ({ body }: ModelServerRequest) => JSON.stringify(body.messages);

test("a thread that is longer than the model's context goes on, and the limit is learned once", async () => {
  const { server, model } = await openScriptedModel(small(2_048));
  const service = await startTestService({ env, model, channels: [shopChannel()] });
  const shopper = await openShopper(() => service.url);
  for (let nth = 1; nth <= 12; nth += 1) {
    const lines = await shopper.say(sentence(nth));
    expect([textOf(lines), lines.at(-1)?.type]).toEqual(["So it is.", "done"]);
    expect(texts(server.requests.at(-1) as ModelServerRequest)).toContain(`Message ${nth}:`);
  }
  // One was refused, and made again.
  expect(server.requests).toHaveLength(13);
  const last = texts(server.requests.at(-1) as ModelServerRequest);
  expect(last).toContain("Message 11:");
  expect(last).not.toContain("Message 7:");
});

test("a question that is too long alone ends in a sentence that says so, and the next one is answered", async () => {
  const { server, model } = await openScriptedModel(small(2_048));
  const service = await startTestService({ env, model, channels: [shopChannel()] });
  const shopper = await openShopper(() => service.url);
  await shopper.say(sentence(1));
  expect(await shopper.say("word ".repeat(1_500))).toEqual([
    { type: "error", message: "The message is too long for the model" },
  ]);
  expect(server.requests).toHaveLength(3);
  const lines = await shopper.say("Thanks");
  expect([textOf(lines), lines.at(-1)?.type]).toEqual(["So it is.", "done"]);
  // What is learned from it leaves room for the usual.
  await shopper.say(sentence(2));
  await shopper.say(sentence(3));
  expect(texts(server.requests.at(-1) as ModelServerRequest)).toContain("Message 2:");
});

test("a refusal in a stream that began with 200 is known, but nothing is told twice", async () => {
  const said =
    "Trying to keep the first 9000 tokens when the model is loaded with context length of only 4096 tokens";
  const refusal = bytes(`event: error\ndata: ${JSON.stringify({ error: { message: said } })}\n\n`);
  const { server, model } = await openScriptedModel([[refusal], "So it is.", [say("So"), hold(), refusal]]);
  const shorter = [{ role: "user" as const, content: "Shorter" }];
  const fit = (most: number) => ({ messages: shorter, tokens: Math.min(9_000, most) });
  const given: unknown[] = [];
  const sent = ({ messages, isRefused }: SentRequest) => void given.push([messages, isRefused]);
  expect(await startTurn(model, { request: { fit, sent } }).turn).toMatchObject({ text: "So it is." });
  expect(given.at(-1)).toEqual([shorter, false]);
  const { turn, written } = startTurn(model, { request: { fit } });
  await expect.poll(() => written).toEqual(["So"]);
  server.release();
  await expect(turn).rejects.toThrow(ModelFault);
  expect(written).toEqual(["So"]);
  expect(server.requests).toHaveLength(3);
});

test("each model of a chain has its own limit; the next one is asked where the question is too long for one, which does not rest", async () => {
  const [one, two] = [await startModelServer(small(700)), await startModelServer(small(4_096))];
  const servers = { one, two };
  const model = openProviders({
    kind: "openai",
    providers: Object.entries(servers).map(([name, { baseUrl }]) =>
      openProvider({ name, apiKey: null, baseUrl, silenceMs: 30_000, pause: noPause }),
    ),
    names: {
      membersOf: () => [
        { provider: "one", model: "a" },
        { provider: "two", model: "b" },
      ],
      defaultModel: "default",
    },
    clock: { elapsed: () => 0 },
    log: { warn() {}, info() {} },
    onCall: () => {},
  });
  onTestFinished(async () => {
    await model.close();
    await one.close();
    await two.close();
  });
  let given: SentRequest["messages"] = [];
  const ask = async (question: string) => {
    const messages = [sentence(1), sentence(2), question].map((content) => ({
      role: "user" as const,
      content,
    }));
    const sizeOf = (shown: typeof messages) => Math.ceil(JSON.stringify(shown).length / 4);
    const fit = (most: number) => {
      let from = 0;
      while (from < 2 && sizeOf(messages.slice(from)) > most) from += 1;
      return { messages: messages.slice(from), tokens: sizeOf(messages.slice(from)) };
    };
    const sent = (request: SentRequest) => void (given = request.messages);
    const request = { model: "x", messages, tools: [], maxOutputTokens: null, traceparent: null, fit, sent };
    return model.stream(request, () => {}, new AbortController().signal);
  };
  const long = await ask("word ".repeat(600));
  expect(long.by).toBe("two/b");
  expect(given).toHaveLength(3);
  expect(texts(two.requests[0] as ModelServerRequest)).toContain("Message 1:");
  const short = await ask("Hello");
  expect(short.by).toBe("one/a");
  expect(given).toHaveLength(2);
  expect(two.requests).toHaveLength(1);
});
