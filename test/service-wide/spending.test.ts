import { describe, expect, onTestFinished, test } from "vitest";
import { dayOf } from "../../src/domain/day.ts";
import { ORIGIN, SECRET_KEY, shop } from "../http/service.ts";
import { call, say, usage } from "../support/model-server.ts";
import type { Script } from "../support/model-server.ts";
import { openWhole } from "./open-whole.ts";
import type { Whole } from "./open-whole.ts";

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
