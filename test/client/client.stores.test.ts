// For src/client/
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { FeedLine, Line, TerminalLine, ThreadOfUser } from "../../src/client/client.d.ts";
import { createClient } from "../../src/client/create-client.ts";
import { embedded, openHouse, redis, secretKeyOf, webChannel } from "../scenarios/houses.ts";
import type { House, Site } from "../scenarios/houses.ts";
import { hold, lastUserText, say } from "../support/servers/model-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";

/** The typed client on a whole service; on Redis each connection goes to another instance. */
const SITES = inject("stores").map((kind): Site => (kind === "embedded" ? embedded : redis));

describe.each(SITES)("on $name", (site) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(site, (request) => {
      const said = lastUserText(request);
      return said.includes("wait") ? [say("One "), say("two "), hold(), say("three.")] : `You said: ${said}`;
    });
    await house.putChannel(
      webChannel("cli", { kind: "transport", publishableKey: null, allowedOrigins: [] }),
    );
    await house.putChannel(webChannel("shop"));
  });
  afterAll(() => house.close());

  /** A client whose connections go to the instances in turn, and can be cut. */
  function open() {
    let nth = 0;
    const cuts: (() => void)[] = [];
    const send: typeof fetch = async (input, init) => {
      const at = new URL(input instanceof Request ? input.url : input);
      const instance = house.urls[nth++ % house.urls.length] ?? "";
      const response = await fetch(instance + at.pathname + at.search, init);
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const cutting = new AbortController();
      cuts.push(() => cutting.abort(new TypeError("network error")));
      void response.body?.pipeTo(writable, { signal: cutting.signal }).catch(() => {});
      return new Response(response.status === 204 ? null : readable, response);
    };
    const client = createClient({ baseUrl: "http://service.test/", key: TEST_KEY, fetch: send });
    return { client, cut: () => cuts.at(-1)?.(), asked: () => nth };
  }

  test("says a message, reads the reply, the history and the threads", async () => {
    const { client } = open();
    const reply = client.send({ threadId: "a/b", userId: "ada", text: "Hello" });
    const lines: Line[] = [];
    for await (const line of reply) lines.push(line);
    const final: TerminalLine = await reply.final;
    expect(final).toMatchObject({ type: "done", inputTokens: 11 });
    expect([lines.at(-1), reply.text]).toEqual([final, "You said: Hello"]);
    const history = await client.history({ threadId: "a/b", userId: "ada" });
    expect(history.map(({ content }) => content)).toEqual(["Hello", "You said: Hello"]);
    await client.feedback({ threadId: "a/b", userId: "ada", messageId: "2", rating: "down", comment: "?" });
    const [, rated] = await client.history({ threadId: "a/b", userId: "ada" });
    expect(rated?.feedback).toEqual({ rating: "down", comment: "?" });
    await expect
      .poll(async () => (await client.threads({ userId: "ada" })).items)
      .toMatchObject([{ threadId: "a/b", state: "idle" }]);
    expect(await client.access({ externalUserId: "ada" })).toMatchObject({ allowed: true });
  });

  test("replaces a message, has one answered again, and speaks first, each once", async () => {
    const { client } = open();
    const thread = { threadId: "branched", userId: "ada" };
    const told = async (branches?: "1") =>
      (await client.history({ ...thread, ...(branches ? { branches } : {}) })).map(({ content }) => content);
    await client.send({ ...thread, text: "Hello" }).final;
    const other = client.send({ ...thread, text: "Good day", replaces: "1" });
    await other.final;
    const anew = client.regenerate({ ...thread, messageId: "4", clientMessageId: "k" });
    await anew.final;
    await client.regenerate({ ...thread, messageId: "4", clientMessageId: "k" }).final;
    expect([anew.text, await told()]).toEqual(["You said: Good day", ["Good day", "You said: Good day"]]);
    expect(await told("1")).toHaveLength(5);
    expect(await client.say({ ...thread, text: "News", clientMessageId: "n" })).toEqual({ id: "6" });
    expect(await client.say({ ...thread, text: "News", clientMessageId: "n" })).toEqual({ id: "6" });
    expect(await client.say({ ...thread, instruction: "Greet" })).toEqual({
      runId: expect.any(String) as string,
    });
  });

  test("F6: a stop that names a reply's run ends that one, and no later one", async () => {
    const { client } = open();
    const thread = { threadId: "stopped", userId: "ada" };
    const first = client.send({ ...thread, text: "Hello" });
    expect(first.runId).toBeNull();
    await first.final;
    const held = house.model.held();
    const second = client.send({ ...thread, text: "wait" });
    await held;
    await expect.poll(() => second.runId).toEqual(expect.any(String));
    expect(second.runId).not.toBe(first.runId);
    await client.cancel({ ...thread, runId: first.runId ?? "" });
    await expect.poll(() => second.text).toBe("One two ");
    await client.cancel({ ...thread, runId: second.runId ?? "" });
    expect(await second.final).toMatchObject({ type: "error", code: "cancelled" });
    house.model.release();
  });

  test("a reply that is cut off goes on where it was: said once, each word once", async () => {
    const { client, cut, asked } = open();
    const held = house.model.held();
    const reply = client.send({ threadId: "cut", userId: "ada", text: "wait" });
    await held;
    await expect.poll(() => reply.text).toBe("One two ");
    cut();
    await expect.poll(asked).toBe(2);
    house.model.release();
    expect((await reply.final).type).toBe("done");
    const lines: Line[] = [];
    for await (const line of reply) lines.push(line);
    const texts = lines.map((line) => (line.type === "delta" ? line.text : `[${line.type}]`));
    expect(texts.join("")).toBe("One two three.[done]");
    expect(await client.history({ threadId: "cut", userId: "ada" })).toHaveLength(2);
  });

  test("a feed that is cut off misses nothing, and tells nothing twice", async () => {
    const { client, cut, asked } = open();
    const thread = { threadId: "feed", userId: "ada" };
    await client.send({ ...thread, text: "First" }).final;
    const leave = new AbortController();
    const feed: FeedLine[] = [];
    const before = asked();
    const reading = (async () => {
      for await (const line of client.events(thread, { signal: leave.signal })) feed.push(line);
    })().catch(() => {});
    await expect.poll(() => feed.length).toBeGreaterThan(0);
    cut();
    await expect.poll(asked).toBeGreaterThan(before + 2);
    await open().client.send({ ...thread, text: "Second" }).final;
    const said = () => feed.flatMap((line) => (line.type === "message" ? [line.item.content] : []));
    await expect.poll(said).toEqual(["Second", "You said: Second"]);
    leave.abort();
    await reading;
  });

  test("a stop ends the reply, a refusal rejects it with its status, and identify has its own key", async () => {
    const { client, asked } = open();
    const thread = { threadId: "stop", userId: "ada" };
    const held = house.model.held();
    const reply = client.send({ ...thread, text: "wait" });
    await held;
    await client.cancel(thread);
    expect(await reply.final).toMatchObject({ type: "error", code: "cancelled" });
    house.model.release();
    const before = asked();
    const refused = client.send({ ...thread, channel: "unknown", text: "Hello" });
    await expect(refused.final).rejects.toMatchObject({ status: 404 });
    expect(asked()).toBe(before + 1);
    const visitor = { channel: "shop", visitorToken: "vt_shop_x", externalUserId: "ada" };
    await expect(client.identify({ ...visitor, secretKey: secretKeyOf("shop") })).rejects.toMatchObject({
      status: 404,
    });
    await expect(client.identify({ ...visitor, secretKey: "sk_wrong" })).rejects.toMatchObject({
      status: 401,
    });
  });

  test("what is refused has the status that the types tell, and is asked once", async () => {
    const { client, asked } = open();
    const thread = { threadId: "refused", userId: "ada" };
    await client.send({ ...thread, text: "Hello", clientMessageId: "m" }).final;
    const rating = { ...thread, messageId: "2", rating: "up" } as const;
    const visitor = { channel: "shop", secretKey: secretKeyOf("shop"), externalUserId: "ada" };
    const images = Array.from({ length: 5 }, () => ({ url: "https://images.example/a.png" }));
    const refused: [number, () => Promise<unknown>][] = [
      [404, () => client.history({ ...thread, threadId: "unknown" })],
      [404, () => client.threads({ userId: "unknown" })],
      [422, () => client.threads({ userId: "ada", cursor: "unknown" })],
      [
        404,
        () =>
          client
            .events({ ...thread, threadId: "unknown" })
            [Symbol.asyncIterator]()
            .next(),
      ],
      [404, () => client.feedback({ ...rating, messageId: "1" })],
      [404, () => client.regenerate({ ...thread, messageId: "1" }).final],
      [404, () => client.send({ ...thread, text: "Hm", replaces: "2" }).final],
      [409, () => client.approve({ ...thread, callId: "c1", approved: true })],
      [413, () => client.feedback({ ...rating, comment: "x".repeat(2_001) })],
      [422, () => client.send({ ...thread, text: "Another", clientMessageId: "m" }).final],
      [422, () => client.send({ ...thread, text: "See", attachments: images }).final],
      [413, () => client.send({ ...thread, text: "Hi", context: { is: "x".repeat(2_000) } }).final],
      [404, () => client.identify({ ...visitor, visitorToken: "vt_shop_x", rotate: true })],
    ];
    for (const [status, ask] of refused) {
      const before = asked();
      await expect(ask()).rejects.toMatchObject({ name: "ServiceError", status, retryAfterMs: 0 });
      expect(asked()).toBe(before + 1);
    }
    await expect(client.cancel({ ...thread, threadId: "unknown" })).resolves.toBeUndefined();
  });

  test("a channel that a call leaves undefined is the client's", async () => {
    const client = createClient({ baseUrl: house.urls[0] ?? "", key: TEST_KEY, channel: "shop" });
    // Who compiles without exactOptionalPropertyTypes may write this.
    const given = { threadId: "in-shop", userId: "eve", channel: undefined } as unknown as ThreadOfUser;
    await client.send({ ...given, text: "Hello" }).final;
    expect(await client.history({ ...given, channel: "shop" })).toHaveLength(2);
  });
});
