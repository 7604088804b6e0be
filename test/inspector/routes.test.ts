import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Secret } from "../../src/secret.ts";
import { threadUid } from "../../src/domain/thread-uid.ts";
import { inspectorKey } from "../../src/inspector/inspector-key.ts";
import { call, hold, say } from "../support/model-server.ts";
import { TEST_KEY, sendMessage } from "../support/service.ts";
import { callIdOf, enterShop, openInspected, startInspected } from "./inspected.ts";
import { watch } from "./watch.ts";

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const uid = threadUid("cli", "ada", "t1");

describe("the inspector's key", () => {
  test("is the same wherever the transport key is, and is not that key", () => {
    const key = inspectorKey(new Secret("one")).reveal();
    expect(key).toMatch(/^ik_[\w-]{43}$/);
    expect(inspectorKey(new Secret("one")).reveal()).toBe(key);
    expect(inspectorKey(new Secret("two")).reveal()).not.toBe(key);
  });

  let opened: Awaited<ReturnType<typeof openInspected>>;
  beforeAll(async () => {
    opened = await openInspected();
  });
  afterAll(() => opened.close());

  const DATA = ["/channels", "/channels/cli/users", "/channels/cli/users/ada/threads", `/threads/${uid}`];
  const FILES = ["", "/page.js", "/page.css", "/chart.css", "/thread.svg", "/thread.json"];

  test.each(DATA)("is asked for by /machines/api%s", async (path) => {
    const { service, key } = opened;
    const ask = async (headers: Record<string, string>) =>
      (await fetch(`${service.url}/machines/api${path}`, { headers })).status;
    expect(await ask({})).toBe(401);
    for (const wrong of [TEST_KEY, "ik_wrong", `${key}x`]) {
      expect(await ask({ authorization: `Bearer ${wrong}` })).toBe(401);
    }
    expect(await ask({ cookie: `key=${key}` })).toBe(401);
  });

  test.each(FILES)("is neither asked for by /machines%s nor in it", async (path) => {
    const { service, key } = opened;
    const response = await fetch(`${service.url}/machines${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-security-policy")).toContain("script-src 'self';");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-cache",
    });
    expect(await response.text()).not.toContain(key);
  });

  test("opens no door of the API", async () => {
    const { service, key } = opened;
    const sent = await sendMessage(service.url, { threadId: "t1", userId: "ada", text: "Hello" }, key);
    expect(sent.status).toBe(401);
  });
});

describe("the lists", () => {
  test("lead from channel to user to thread", async () => {
    const { service, key } = await startInspected();
    await sendMessage(service.url, { threadId: "t1", userId: "ada", text: "Hello" });
    await sendMessage(service.url, { threadId: "t2", userId: "ada", text: "Hello" });
    const list = async (path: string) =>
      (await (await fetch(`${service.url}/machines/api${path}`, bearer(key))).json()) as Record<
        string,
        unknown
      >[];

    expect(await list("/channels")).toEqual(
      expect.arrayContaining([
        { slug: "cli", kind: "transport" },
        { slug: "shop", kind: "web" },
      ]),
    );
    const [user] = await list("/channels/cli/users");
    expect(user).toMatchObject({ externalUserId: "ada", displayName: null });
    const threads = await list(`/channels/cli/users/${String(user?.["userId"])}/threads`);
    expect(threads.map(({ threadId }) => threadId)).toEqual(["t2", "t1"]);
    expect(threads[1]?.["id"]).toBe(uid);
    const nobody = await fetch(`${service.url}/machines/api/channels/cli/users/bob/threads`, bearer(key));
    expect(nobody.status).toBe(404);
  });
});

describe("a watch", () => {
  test("tells of a thread from before its first message to the end of its run", async () => {
    const { service, server, key, complaints } = await startInspected([[say("Hel"), hold(), say("lo")]]);
    const { sights, states, spoken } = await watch(service.url, uid, key);
    await expect.poll(sights).toEqual([{ type: "untouched" }]);

    const sent = sendMessage(service.url, { threadId: "t1", userId: "ada", text: "Hello" });
    await server.held();
    await expect.poll(spoken).toBe("Hel");
    server.release();
    await sent;
    await expect.poll(states).toEqual(["running.thinking", "idle"]);
    expect(spoken()).toBe("Hello <done> ");
    const runs = sights().flatMap((sight) => (sight.type === "runs" ? sight.runs : []));
    expect(runs.at(-1)?.path.map(({ event, state }) => [event, state])).toEqual([
      ["user.said", "running.thinking"],
      ["agent.finished", "idle"],
    ]);
    const messages = sights().findLast((sight) => sight.type === "messages");
    expect(messages?.messages.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Hello"],
      ["assistant", "Hello"],
    ]);
    expect(complaints).toEqual([]);
  });

  test("goes on over page calls, each in a stream of its own", async () => {
    const { service, key } = await startInspected([[call("cart")], "Two teas"]);
    const shop = await enterShop(service.url, "cart");
    const id = shop.threadId;
    const callId = callIdOf(await shop.say("What is in my cart?"));
    const { states, spoken } = await watch(service.url, id, key);
    await expect.poll(spoken).toBe(" <step>  <tool_call> ");
    await shop.answer(callId, "two teas");
    // Whether the watch looked while the model was asked depends on how fast that is.
    const rested = () => states().filter((state) => !state.startsWith("running"));
    await expect.poll(rested).toEqual(["awaitingPageTool", "idle"]);
    await expect.poll(spoken).toContain("Two teas <done> ");
  });

  test("shows no secret and no visitor token (P15)", async () => {
    const script = () => "The key is canary-of-the-configuration, and Bearer abcdef123456";
    const { service, key } = await startInspected(script);
    const shop = await enterShop(service.url, "cart");
    await shop.say(`My key is sk_abcdefgh, yours is ${TEST_KEY}, the link's is ${key}`);
    const { told, states } = await watch(service.url, shop.threadId, key);
    await expect.poll(states).toEqual(["idle"]);
    await expect.poll(() => told.text).toContain("The key is [secret]");
    for (const secret of ["canary-of", "abcdef123456", "sk_abcdefgh", TEST_KEY, key, shop.visitorToken]) {
      expect(told.text).not.toContain(secret);
    }
  });

  test("shortens what is long, so that it is no slow reader of its own", async () => {
    const long = "word ".repeat(600_000);
    const { service, key } = await startInspected(() => [say(long)]);
    await sendMessage(service.url, { threadId: "t1", userId: "ada", text: "Hello" });
    const { told, states, spoken } = await watch(service.url, uid, key);
    await expect.poll(states).toEqual(["idle"]);
    await expect.poll(spoken).toContain("<done>");
    expect(told.text.length).toBeLessThan(30_000);
    expect(told.over).toBe(false);
  });

  test("ends when the inspector is closed, so that it holds up no stop", async () => {
    const { service, key, inspector } = await startInspected();
    const { told, sights } = await watch(service.url, uid, key);
    await expect.poll(sights).toHaveLength(1);
    inspector.close();
    await expect.poll(() => told.over).toBe(true);
  });
});
