// For src/models/providers.ts, src/models/rests.ts, src/models/gone.ts
import { expect, onTestFinished, test } from "vitest";
import { parseProviders, membersOf } from "../../src/installation/providers-file.ts";
import { ModelFault } from "../../src/model.ts";
import { openProvider } from "../../src/models/openai.ts";
import { openProviders } from "../../src/models/providers.ts";
import type { MemberCall } from "../../src/models/providers.ts";
import {
  call,
  cut,
  hang,
  hold,
  say,
  startModelServer,
  status,
  unreachableBaseUrl,
} from "../support/servers/model-server.ts";
import type { SentRequest } from "../../src/model.ts";
import type { Script } from "../support/servers/model-server.ts";
import { plainRequest, startTurn } from "../support/servers/open-model.ts";
import { sendMessage, startTestService, TEST_KEY } from "../support/servers/service.ts";
import { openShopper, shopChannel, textOf } from "./shopper.ts";

/** Providers `one` and `two` on scripted servers, and a chain of them. */
async function openChain(scripts: { one: Script | string; two?: Script }) {
  let nowMs = 0;
  const one = typeof scripts.one === "string" ? null : await startModelServer(scripts.one);
  const two = await startModelServer(scripts.two ?? []);
  const servers = { one: one?.baseUrl ?? scripts.one, two: two.baseUrl };
  const calls: MemberCall[] = [];
  const file = {
    providers: { one: { baseUrl: servers.one }, two: { baseUrl: servers.two } },
    models: { default: ["one/a", "two/b"], other: "two/c" },
  };
  const written = parseProviders(JSON.stringify(file), () => null, "unused");
  const model = openProviders({
    kind: "openai",
    providers: written.providers.map(({ name, baseUrl }) =>
      openProvider({ name, apiKey: null, baseUrl, silenceMs: 30_000 }),
    ),
    names: { membersOf: (name) => membersOf(written, name), defaultModel: written.defaultModel },
    clock: { elapsed: () => nowMs },
    log: { warn() {}, info() {} },
    onCall: (made) => void calls.push(made),
  });
  onTestFinished(async () => {
    await model.close();
    await one?.close();
    await two.close();
  });
  const outcomes = () => calls.map(({ provider, model: name, outcome }) => `${provider}/${name} ${outcome}`);
  return { model, one, two, outcomes, pass: (ms: number) => void (nowMs += ms) };
}

const asked = { model: "default" };

test("a channel whose model nobody answers to is told at the start and in /health, as it is now", async () => {
  const { model } = await openChain({ one: "http://127.0.0.1:9/v1" });
  const named = (slug: string, name?: string) => ({
    ...shopChannel(name === undefined ? {} : { model: name }),
    slug,
    publishableKey: `pk_${slug}`,
  });
  const channels = [named("a"), named("b", "two/any"), named("c", "other"), named("d", "three/x")];
  const { url, logged, store, directory } = await startTestService({ model, channels });
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const warnings = async () =>
    ((await (await fetch(`${url}/health`, { headers })).json()) as { warnings: string[] }).warnings;
  const told = /^The model "three\/x" of channel d is no name/;
  expect(await warnings()).toEqual([expect.stringMatching(told)]);
  expect(logged.filter((line) => line.includes("The model "))).toHaveLength(1);
  await store.putChannel(named("b", "any"));
  await store.putChannel(named("d", "one/x"));
  await directory.renew();
  expect(await warnings()).toEqual([expect.stringContaining('"any" of channel b')]);
});

test.each([401, 402, 403, 408, 429, 500, 503, 529])(
  "a chain's next one is asked at once after %i",
  async (code) => {
    const { model, one, two, outcomes } = await openChain({ one: [[status(code)]] });
    const { turn, written } = startTurn(model, { request: asked });
    expect(await turn).toMatchObject({ text: "You said: Hello", by: "two/b", isOfChain: true });
    expect(written.join("")).toBe("You said: Hello");
    expect([one?.requests.length, two.requests.length]).toEqual([1, 1]);
    expect(two.requests[0]?.body.model).toBe("b");
    expect(outcomes()).toEqual(["one/a fell_over", "two/b done"]);
  },
);

test.each([
  [
    "Gemini",
    '[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]',
  ],
  ["Gemini, by its reason", '{"error":{"code":400,"details":[{"reason":"API_KEY_INVALID"}]}}'],
  ["xAI", '{"code":"Client specified an invalid argument","error":"Incorrect API key provided: ab***yz."}'],
  ["xAI, encoded", '{"error":"Incorrect%20API%20key%20provided:%20ab***yz."}'],
])("%s refuses a key with 400: the next one is asked", async (_server, body) => {
  const { model, outcomes } = await openChain({ one: [[status(400, {}, body)]] });
  expect((await startTurn(model, { request: asked }).turn).by).toBe("two/b");
  expect(outcomes()).toEqual(["one/a fell_over", "two/b done"]);
});

test("it is asked after one that cannot be reached, and after one that breaks off before its first text", async () => {
  const unreachable = await openChain({ one: await unreachableBaseUrl() });
  expect((await startTurn(unreachable.model, { request: asked }).turn).by).toBe("two/b");
  const broken = await openChain({ one: [[cut()]] });
  expect((await startTurn(broken.model, { request: asked }).turn).by).toBe("two/b");
});

test("it is not asked after the first text, nor where the request itself is wrong", async () => {
  const { model, one, two, outcomes } = await openChain({
    one: [[say("Hel"), hold(), cut()], [status(400)]],
  });
  const { turn, written } = startTurn(model, { request: asked });
  await expect.poll(() => written).toEqual(["Hel"]);
  one?.release();
  await expect(turn).rejects.toThrow(ModelFault);
  await expect(startTurn(model, { request: asked }).turn).rejects.toThrow("(400)");
  expect(two.requests).toHaveLength(0);
  expect(outcomes()).toEqual(["one/a failed", "one/a failed"]);
});

test("who failed rests, and is tried again by one turn", async () => {
  const { model, one, two, pass } = await openChain({ one: [[status(500)], [hold(), say("Fine again")]] });
  await startTurn(model, { request: asked }).turn;
  await startTurn(model, { request: asked }).turn;
  expect([one?.requests.length, two.requests.length]).toEqual([1, 2]);
  pass(15_000);
  const trying = startTurn(model, { request: asked }).turn;
  await one?.held();
  expect((await startTurn(model, { request: asked }).turn).by).toBe("two/b");
  one?.release();
  expect((await trying).by).toBe("one/a");
  expect((await startTurn(model, { request: asked }).turn).by).toBe("one/a");
});

test("a turn that is stopped while it tries a rested one says nothing of it: the next turn alone tries it", async () => {
  const { model, one, pass } = await openChain({
    one: [[status(500)], [hang()], [hold(), say("Fine again")]],
  });
  await startTurn(model, { request: asked }).turn;
  pass(15_000);
  const stopped = new AbortController();
  const trying = model.stream({ ...plainRequest, ...asked }, () => {}, stopped.signal);
  await one?.requested(2);
  stopped.abort("stopped");
  await expect(trying).rejects.toBe("stopped");
  const next = startTurn(model, { request: asked }).turn;
  await one?.held();
  expect((await startTurn(model, { request: asked }).turn).by).toBe("two/b");
  one?.release();
  expect((await next).by).toBe("one/a");
});

test("one that failed rests on where another of its turns was stopped", async () => {
  const { model, one } = await openChain({ one: [[hang()], [status(500)]] });
  const stopped = new AbortController();
  const waiting = model.stream({ ...plainRequest, ...asked }, () => {}, stopped.signal);
  await one?.requested(1);
  await startTurn(model, { request: asked }).turn;
  stopped.abort("stopped");
  await expect(waiting).rejects.toBe("stopped");
  expect((await startTurn(model, { request: asked }).turn).by).toBe("two/b");
});

test("if all rest, they are asked all the same", async () => {
  const { model } = await openChain({ one: [[status(500)]], two: () => [status(401)] });
  await expect(startTurn(model, { request: asked }).turn).rejects.toThrow("(401)");
  expect((await startTurn(model, { request: asked }).turn).by).toBe("one/a");
});

test("who answered the run so far is asked first; a model outside of chains is asked alone", async () => {
  const { model, outcomes } = await openChain({ one: [] });
  expect((await startTurn(model, { request: { ...asked, keep: "two/b" } }).turn).by).toBe("two/b");
  const alone = await startTurn(model, { request: { model: "one/x/y" } }).turn;
  expect(alone.by).toBe("one/x/y");
  expect(alone).not.toHaveProperty("isOfChain");
  expect((await startTurn(model, { request: { model: "other" } }).turn).by).toBe("two/c");
  await expect(startTurn(model, { request: { model: "nobody" } }).turn).rejects.toThrow(
    "The model is not configured",
  );
  expect(outcomes()).toEqual(["two/b done", "one/x/y done", "two/c done"]);
});

test("a visitor sees of a fall-over only a short wait, within a run too, and the history says who answered", async () => {
  const { model, one, two } = await openChain({
    one: [[call("buy", { sku: "a" }, "x")], [status(503)]],
    two: ["It is bought.", "You are welcome."],
  });
  const agent = { temperature: 0.5, reasoningEffort: "low", body: { seed: 7 } };
  const service = await startTestService({ model, channels: [shopChannel(agent)] });
  const shopper = await openShopper(() => service.url);
  const [, called] = await shopper.say("Buy");
  const lines = await shopper.answer(called ?? { type: "delta", text: "" }, "in the cart");
  expect(textOf(lines)).toBe("It is bought.");
  expect(lines.map(({ type }) => type)).not.toContain("error");
  // The other one's call is told in words: its id means nothing here.
  expect(JSON.stringify(two.requests[0]?.body.messages)).toMatch(/earlier_calls.*in the cart/);
  expect(one?.requests[0]?.body).toMatchObject({ temperature: 0.5, reasoning_effort: "low", seed: 7 });
  await shopper.say("Thanks");
  expect((await shopper.history()).map(({ model: by }) => by)).toEqual([
    undefined,
    "two/b",
    undefined,
    "two/b",
  ]);
});

test("without a chain the history names no model", async () => {
  const { model } = await openChain({ one: [] });
  const channel = shopChannel({ model: "one/a" });
  const service = await startTestService({ model, channels: [channel] });
  await sendMessage(service.url, { threadId: "t", userId: "u", text: "Hi", channel: "shop" });
  const shopper = await openShopper(() => service.url);
  await shopper.say("Hi");
  expect((await shopper.history())[1]).not.toHaveProperty("model");
});

test("each request says whom it asked, so that its price is known", async () => {
  const { model } = await openChain({ one: "http://127.0.0.1:9/v1", two: ["Hello"] });
  const sent: (string | undefined)[] = [];
  const request = { ...plainRequest, model: "default", sent: (one: SentRequest) => sent.push(one.by) };
  await model.stream(request, () => undefined, new AbortController().signal);
  expect(sent).toEqual(["one/a", "two/b"]);
});
