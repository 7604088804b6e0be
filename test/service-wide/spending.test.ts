// For src/agent/budget.ts, src/stores/steps/users/
import { describe, expect, onTestFinished, test } from "vitest";
import type { ThreadContext } from "../../machines/thread.ts";
import { systemClock } from "../../src/clock.ts";
import { dayOf } from "../../src/domain/day.ts";
import { ORIGIN, SECRET_KEY, shop } from "../http/service.ts";
import { bytes, call, cut, hang, hold, reset, say, status, usage } from "../support/servers/model-server.ts";
import type { Act, Script } from "../support/servers/model-server.ts";
import { until } from "../support/until.ts";
import { spoken } from "./clients/ask.ts";
import { OPERATOR_KEY, openWhole } from "./clients/open-whole.ts";
import type { Whole } from "./clients/open-whole.ts";
import { openStream } from "./clients/open-stream.ts";

const EXCEEDED = { type: "error", code: "budget_exceeded" };

async function open(options: {
  script: Script;
  env?: Record<string, string>;
  agent?: (typeof shop)["agent"];
}): Promise<Whole> {
  const { script, env = {}, agent = {} } = options;
  const whole = await openWhole({ script, env, channels: [{ ...shop, agent }] });
  onTestFinished(() => whole.close());
  return whole;
}

/** A new visitor's message from an address, as a proxy tells it; its last line. */
async function ask(whole: Whole, address = "192.0.2.1") {
  const headers = { origin: ORIGIN, "content-type": "application/json", "x-forwarded-for": address };
  const token = await whole.newToken();
  const threadId = await whole.newThread(token);
  const got = await whole.ask({
    method: "POST",
    path: "/v1/widget/messages",
    headers: { ...headers, "x-visitor-token": token },
    body: JSON.stringify({ threadId, text: "Hello" }),
  });
  return got.lines().at(-1);
}

const every = () => [say("Hi"), usage(60, 10)];

describe("daily caps", () => {
  test("P35: ADDRESS_MAX_TOKENS_PER_DAY bounds a client address, whoever speaks from it, and no other", async () => {
    const env = { ADDRESS_MAX_TOKENS_PER_DAY: "100", CLIENT_IP_SOURCE: "x-forwarded-for" };
    const whole = await open({ script: every, env });
    expect(await ask(whole)).toMatchObject({ type: "done" });
    expect(await ask(whole)).toMatchObject({ type: "done" });
    expect(await ask(whole)).toMatchObject(EXCEEDED);
    expect(await ask(whole, "192.0.2.2")).toMatchObject({ type: "done" });
  });

  test("P35: MAX_TOKENS_PER_DAY bounds the installation, all channels and APIs together", async () => {
    const whole = await open({ script: every, env: { MAX_TOKENS_PER_DAY: "100" } });
    expect(await ask(whole)).toMatchObject({ type: "done" });
    expect(await ask(whole)).toMatchObject({ type: "done" });
    const said = { threadId: "t1", userId: "ada", text: "Hello" };
    expect((await whole.transport("/v1/messages", said)).lines().at(-1)).toMatchObject(EXCEEDED);
  });

  test("P35: agent.maxTokensPerDay bounds one channel", async () => {
    const whole = await open({ script: every, agent: { maxTokensPerDay: 100 } });
    expect(await ask(whole)).toMatchObject({ type: "done" });
    expect(await ask(whole)).toMatchObject({ type: "done" });
    expect(await ask(whole)).toMatchObject(EXCEEDED);
    const said = { threadId: "t1", userId: "ada", text: "Hello" };
    expect((await whole.transport("/v1/messages", said)).lines().at(-1)).toMatchObject({ type: "done" });
  });

  test("P35: a run that began before its visitor was merged is bound by the account's cap, and counts for it", async () => {
    const agent = { maxTokensPerUserPerDay: 200 };
    const script = [[call("cart"), usage(60, 10)], [call("cart"), usage(60, 10)], every()];
    const whole = await open({ script, agent });
    const account = await whole.store.admitUser({
      slug: "shop",
      externalId: "acc",
      displayName: null,
      newUserId: "account",
      thread: null,
      creates: true,
      atMs: 1,
    });
    const token = await whole.newToken();
    const threadId = await whole.newThread(token);
    await whole.visitor(token, "POST", "tools", { threadId, webmcpTools: [{ name: "cart" }] });
    const said = await whole.visitor(token, "POST", "messages", { threadId, text: "Hi" });
    const answer = async (line: unknown) => {
      const { callId, tool } = line as { callId: string; tool: string };
      const result = { threadId, callId, tool, result: "ok" };
      return (await whole.visitor(token, "POST", "tool-results", result)).lines().at(-1);
    };

    const identified = await whole.ask({
      method: "POST",
      path: "/v1/channels/shop/identify",
      headers: { authorization: `Bearer ${SECRET_KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ visitorToken: token, externalUserId: "acc" }),
    });
    expect(identified.json()).toMatchObject({ merged: true });
    const second = await answer(said.lines().at(-1));
    expect(second).toMatchObject({ type: "tool_call" });
    const userId = account?.user.userId ?? "";
    const day = dayOf(Date.now());
    expect(await whole.store.spentTokens("shop", userId, day)).toBe(140);
    await whole.store.spendTokens({ slug: "shop", userId, day, tokens: 60 });
    expect(await answer(second)).toMatchObject(EXCEEDED);
  });
});

const NOON = Date.UTC(2026, 10, 25, 12);
const DAY = dayOf(NOON);

/** What each end of a run leaves in the counts of caps, in the figures of the channel, and in the thread's totals. */
async function counted(whole: Whole, { userId, uid }: { userId: string; uid: string }) {
  const [day] = await whole.store.stats("shop", { from: DAY, to: DAY });
  const record = await whole.store.load(uid, 1_000);
  const { context } = JSON.parse(record?.snapshot ?? "{}") as { context?: Partial<ThreadContext> };
  const { input = 0, output = 0 } = context?.usage ?? {};
  const { inputTokens = 0, outputTokens = 0 } = day?.counts ?? {};
  return {
    user: await whole.store.spentTokens("shop", userId, DAY),
    named: await whole.store.countedTokens(["channel shop", "installation"], DAY),
    stats: inputTokens + outputTokens,
    thread: record ? input + output : null,
  };
}

describe("runs that end early", () => {
  const caps = { maxTokensPerUserPerDay: 1_000_000, maxTokensPerDay: 1_000_000 };
  const env = { MAX_TOKENS_PER_DAY: "1000000", RUN_MAX_REPLY_CHARS: "500" };
  /** 400 characters: some 100 tokens by the estimate. */
  const half = say("half a word. ".repeat(31).slice(0, 400));
  const told = bytes(
    `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 70, completion_tokens: 1 } })}\n\n`,
  );

  /** A deleted thread has none; the run that a stop cuts off goes on elsewhere. */
  const OTHER_TOTALS = new Map<string, number | null>([
    ["is deleted", null],
    ["is cut off by a stop of the service", 0],
  ]);

  interface Talk {
    whole: Whole;
    token: string;
    threadId: string;
    uid: string;
  }

  const goesOn = ({ whole }: Talk) => whole.model.release();
  const ends: [string, Act[], ((talk: Talk) => unknown) | null][] = [
    [
      "is cancelled",
      [half, hang()],
      (talk) => talk.whole.visitor(talk.token, "POST", `threads/${talk.threadId}/cancel`),
    ],
    [
      "asks for a person",
      [half, hang()],
      (talk) => talk.whole.visitor(talk.token, "POST", `threads/${talk.threadId}/handoff`, {}),
    ],
    [
      "is taken over",
      [half, hang()],
      (talk) => operator(talk, "POST", `channels/shop/threads/${talk.uid}/take`, { epoch: 0 }),
    ],
    [
      "is deleted",
      [half, hang()],
      (talk) => talk.whole.visitor(talk.token, "POST", `threads/${talk.threadId}/delete`),
    ],
    ["is cut off by a stop of the service", [half, hang()], (talk) => talk.whole.stop(0)],
    ["breaks off", [half, hold(), cut()], goesOn],
    ["loses its connection", [half, hold(), reset()], goesOn],
    ["tells an error", [half, hold(), bytes('data: {"error":{"message":"overloaded"}}\n\n')], goesOn],
    ["is asked of the model again, which broke off before its first text", [half, cut()], null],
    ["grows too long", [half, half, hang()], null],
  ];

  const operator = ({ whole }: Talk, method: string, path: string, body: object) =>
    whole.ask({
      method,
      path: `/v1/operator/${path}`,
      headers: { authorization: `Bearer ${OPERATOR_KEY}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });

  async function endedBy(script: Act[], end: ((talk: Talk) => unknown) | null) {
    const clock = { ...systemClock, now: () => NOON };
    const channel = { ...shop, agent: caps, handoff: { enabled: true } };
    const whole = await openWhole({ script: [script], env, channels: [channel], clock });
    onTestFinished(() => whole.close());
    const token = await whole.newToken();
    const threadId = await whole.newThread(token);
    const [user] = await whole.store.users("shop");
    const userId = user?.userId ?? "";
    const [thread] = await whole.store.threads("shop", userId);
    const uid = thread?.uid ?? "";
    const stream = await openStream(whole.url, {
      method: "POST",
      path: "/v1/widget/messages",
      headers: { origin: ORIGIN, "x-visitor-token": token, "content-type": "application/json" },
      body: JSON.stringify({ threadId, text: "Hello" }),
    });
    if (end) {
      await until("the first half", () => spoken(stream.lines()).length >= 400);
      // What was booked as the request was sent: a process that dies now leaves it.
      await until("it is booked", async () => (await counted(whole, { userId, uid })).user > 0);
      await end({ whole, token, threadId, uid });
    }
    await stream.end();
    // Adds up the figures of the channel.
    await whole.stop(0);
    return { whole, userId, uid };
  }

  test.each(ends)(
    "G15: P35: a run that %s counts what it cost: its input, and what was streamed",
    async (what, script, end) => {
      const run = await endedBy(script, end);
      const { user, named, stats, thread } = await counted(run.whole, run);
      // The prompt has some tokens, and the half 100.
      expect(user).toBeGreaterThan(110);
      expect({ named, stats }).toEqual({ named: [user, user], stats: user });
      expect(thread).toBe(OTHER_TOTALS.has(what) ? OTHER_TOTALS.get(what) : user);
    },
  );

  test("G15: P35: what the server told before counts, and what came after it is estimated", async () => {
    const run = await endedBy([told, half, cut()], null);
    expect(await counted(run.whole, run)).toEqual({ user: 170, named: [170, 170], stats: 170, thread: 170 });
  });

  test("G15: P35: a request that the server refuses costs nothing", async () => {
    const run = await endedBy([status(401)], null);
    expect(await counted(run.whole, run)).toEqual({ user: 0, named: [0, 0], stats: 0, thread: 0 });
  });
});
