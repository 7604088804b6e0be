// For src/threads/summaries/, src/agent/history/, src/operators/threads/history-summary.ts
import { expect, onTestFinished, test } from "vitest";
import type { Channel } from "../../src/domain/channels/channel.ts";
import { dayOf } from "../../src/domain/day.ts";
import { cli } from "../http/service.ts";
import { hold, lastUserText, say, status, usage } from "../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../support/servers/model-server.ts";
import { until } from "../support/until.ts";
import { spoken } from "./clients/ask.ts";
import { OPERATOR_KEY, openWhole } from "./clients/open-whole.ts";

const textOf = (message: { content?: unknown } | undefined) => String(message?.content);
const isSummary = ({ body }: ModelServerRequest) =>
  textOf(body.messages[0]).startsWith("You keep the memory");
const tokensOf = (text: string) => Math.ceil(text.length / 4);

/** A model that knows what it is sent. It is asked for names of animals, and of a conversation it keeps these alone. */
function forgetfulModel(request: ModelServerRequest): ScriptedTurn {
  const all = request.body.messages.map(textOf).join("\n");
  const facts = [...new Set(all.match(/my \w+ is called \w+/g))];
  const asked = /What is my (\w+) called/.exec(lastUserText(request))?.[1];
  const known = facts.find((fact) => fact.startsWith(`my ${asked} `)) ?? "I do not know";
  const text = isSummary(request) ? facts.join(", ") : asked === undefined ? "Noted." : known;
  return [say(text), usage(tokensOf(all), tokensOf(text))];
}

async function open(
  script: (request: ModelServerRequest) => ScriptedTurn,
  agent: Channel["agent"],
  env: Record<string, string> = {},
) {
  const whole = await openWhole({ script, env, channels: [{ ...cli, agent }] });
  onTestFinished(() => whole.close());
  const ask = async (text: string) =>
    spoken((await whole.transport("/v1/messages", { threadId: "t1", userId: "ada", text })).lines());
  const operator = async (path: string) => {
    const headers = { authorization: `Bearer ${OPERATOR_KEY}` };
    return (await whole.ask({ path: `/v1/operator/channels/cli/${path}`, headers })).text;
  };
  const uid = async () => {
    const { items } = JSON.parse(await operator("threads")) as { items: { id: string }[] };
    return items[0]?.id ?? "";
  };
  const summaries = () => whole.model.requests.filter(isSummary);
  return { whole, ask, operator, uid, summaries };
}

test(
  "of 2,000 messages the model knows the first one, is sent no more than it may be, and the cost is told",
  { timeout: 120_000 },
  async () => {
    const history = { maxChars: 20_000, summary: true };
    const { whole, ask, operator, uid, summaries } = await open(forgetfulModel, {
      history,
      maxTokensPerDay: 10_000_000,
    });
    await ask("Hello, my dog is called Bello");
    for (let nth = 2; nth < 1_000; nth += 1) await ask(`${"So much about the weather. ".repeat(7)}${nth}`);
    const id = await uid();
    await until(
      "the summary covers what is not sent",
      async () => ((await whole.store.historySummary(id))?.upTo ?? 0) > 1_800,
    );
    expect(await ask("What is my dog called?")).toBe("my dog is called Bello");
    expect(await ask("What is my cat called?")).toBe("I do not know");

    const sent = whole.model.requests.filter((request) => !isSummary(request));
    const longest = Math.max(
      ...sent.map(({ body }) => body.messages.slice(1, -1).reduce((sum, one) => sum + textOf(one).length, 0)),
    );
    expect(longest).toBeLessThanOrEqual(history.maxChars);
    // Each message is summarised once: 1,000 messages of some 190 characters, a half of the limit at a time.
    expect(summaries().length).toBeGreaterThan(8);
    expect(summaries().length).toBeLessThan(30);

    const facts = JSON.parse(await operator(`threads/${id}`)) as { messages: number; summary: object };
    const cost = summaries().reduce((sum, { body }) => {
      const all = body.messages.map(textOf).join("\n");
      return sum + tokensOf(all);
    }, 0);
    expect(facts.messages).toBe(2_002);
    expect(facts.summary).toMatchObject({
      text: "my dog is called Bello",
      model: expect.stringMatching(/^openai\//) as string,
      tokens: { input: cost, output: summaries().length * tokensOf("my dog is called Bello") },
    });
    const counted = await whole.store.countedTokens(["channel cli"], dayOf(Date.now()));
    const spent = (await whole.store.load(id, 1))?.snapshot ?? "";
    const { usage: own } = (JSON.parse(spent) as { context: { usage: { input: number; output: number } } })
      .context;
    const { tokens } = facts.summary as { tokens: { input: number; output: number } };
    expect(counted).toEqual([own.input + own.output + tokens.input + tokens.output]);

    const exported = (await operator(`threads/${id}/export`)).trim().split("\n");
    const lines = exported.map(
      (line) => JSON.parse(line) as { type: string; text?: string; content?: string },
    );
    expect(lines.filter(({ type }) => type === "summary")).toMatchObject([
      { text: "my dog is called Bello" },
    ]);
    // No reader of the history sees it.
    const said = lines.filter(({ type }) => type === "message").map(({ content }) => content);
    expect(said.filter((content) => content === "my dog is called Bello")).toHaveLength(1);
    await whole.store.eraseThread(id, Date.now());
    expect(await whole.store.historySummary(id)).toBeNull();
  },
);

test("a summary that fails, or takes long, costs the visitor nothing", async () => {
  let fails = true;
  const { whole, ask, uid, summaries } = await open(
    (request) => {
      if (isSummary(request)) return fails ? [status(400)] : [hold(), say("my dog is called Bello")];
      return forgetfulModel(request);
    },
    { history: { maxChars: 100, summary: true } },
  );
  await ask(`Hello, my dog is called Bello${"!".repeat(60)}`);
  expect(await ask("x".repeat(60))).toBe("Noted.");
  await until("a summary was tried", () => summaries().length > 0);
  // It is tried again in ten minutes at the earliest: each reply would cost a request more.
  const tried = summaries().length;
  expect(await ask("What is my dog called?")).toBe("I do not know");
  expect(await ask("Well.")).toBe("Noted.");
  expect(summaries().length).toBe(tried);
  expect(await whole.store.historySummary(await uid())).toBeNull();

  fails = false;
  const ben = async (text: string) =>
    spoken((await whole.transport("/v1/messages", { threadId: "t2", userId: "ben", text })).lines());
  await ben(`Hello, my dog is called Bello${"!".repeat(60)}`);
  await ben("x".repeat(60));
  await whole.model.held();
  expect(await ben("And now?")).toBe("Noted.");
  whole.model.release();
  const { items } = await whole.store.channelThreads("cli", {
    limit: 9,
    after: null,
    sinceMs: 0,
    untilMs: Infinity,
  });
  const its = items.find(({ threadId }) => threadId === "t2")?.uid ?? "";
  await until("it is kept", async () => (await whole.store.historySummary(its)) !== null);
  expect(await ben("What is my dog called?")).toBe("my dog is called Bello");
});
