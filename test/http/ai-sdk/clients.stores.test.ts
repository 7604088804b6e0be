// For src/http/ai-sdk/
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { embedded, openHouse, redis, webChannel } from "../../scenarios/houses.ts";
import type { House, Site } from "../../scenarios/houses.ts";
import { enterShop, HOLDS, shopModel } from "../front-ends/shop-visitor.ts";
import { CLIENTS, textOf } from "./clients.ts";
import type { ShownMessage } from "./clients.ts";

/**
 * The AI SDK's own client, versions 5 to 7, talks to a whole service; on Redis to two instances in turn, the newest version
 * alone unless AI_SDK_TESTS=full.
 */
const SITES = inject("stores").map((kind): Site => (kind === "embedded" ? embedded : redis));
describe.each(SITES)("on $name", (site) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(site, shopModel);
    await house.putChannel(webChannel("shop"));
  });
  afterAll(() => house.close());

  async function enter() {
    const { askElsewhere, ...at } = await enterShop(house);
    const path = `/v1/widget/ai-sdk/chat/${at.threadId}`;
    return {
      ...at,
      register: (...names: string[]) =>
        at.post("/tools", { threadId: at.threadId, webmcpTools: names.map((name) => ({ name })) }),
      async read(): Promise<ShownMessage[]> {
        return JSON.parse((await askElsewhere(`${path}/messages`, "GET")).text) as ShownMessage[];
      },
      stream: (query = "") => askElsewhere(`${path}/stream${query}`, "GET"),
      stopRun: () => askElsewhere(`${path}/stop`, "POST"),
    };
  }

  const isFull = site === embedded || process.env["AI_SDK_TESTS"] === "full";
  describe.each(isFull ? CLIENTS : CLIENTS.slice(-1))("$name", (client) => {
    test("two messages in a row: each reply once, the ids those of the history", async () => {
      const at = await enter();
      const chat = client.open(at);
      await chat.send("Hello");
      await chat.send("Again");
      expect([chat.status, chat.error]).toEqual(["ready", undefined]);
      expect(chat.messages.map(textOf)).toEqual(["Hello", "You said: Hello", "Again", "You said: Again"]);
      expect(chat.asked).toHaveLength(2);
      const read = await at.read();
      expect(read.map(({ id, role }) => [id, role])).toEqual(chat.messages.map(({ id, role }) => [id, role]));
      expect(read.map(textOf)).toEqual(chat.messages.map(textOf));
      expect((await at.stream()).status).toBe(204);
    });

    test("page tools are run once each, what they answer is posted once each, and the reply is one message", async () => {
      const at = await enter();
      await at.register("search", "add");
      const used: unknown[] = [];
      const tools = {
        search: (input: unknown) => void used.push(["search", input]),
        add: () => {
          used.push("add");
          throw new Error("sold out");
        },
      };
      const chat = client.open({ ...at, tools });
      await chat.send("A mug");
      await expect
        .poll(() => [chat.status, textOf(chat.messages.at(-1))])
        .toEqual(["ready", expect.stringContaining('Got "null" and')]);
      expect(textOf(chat.messages.at(-1))).toContain("sold out");
      expect(used).toEqual([["search", { what: "mug" }], "add"]);
      expect(chat.asked).toHaveLength(3);
      expect(chat.messages).toHaveLength(2);
      const steps = chat.messages[1]?.parts.filter(({ type }) => type === "data-step");
      expect(steps?.map(({ data }) => data)).toMatchObject([
        { id: "search", phase: "done" },
        { id: "add", phase: "failed" },
      ]);
      expect((await at.read()).map(textOf)).toEqual(chat.messages.map(textOf));
    });

    test("a reload in the middle shows the whole message, tool rounds included, and runs no tool again", async () => {
      const at = await enter();
      await at.register("search", "add");
      const used: string[] = [];
      const tools = { search: () => void used.push("search"), add: () => void used.push("add") };
      const first = client.open({ ...at, tools });
      const held = house.model.held();
      void first.send(`A mug, ${HOLDS}`);
      await held;
      await expect.poll(() => textOf(first.messages.at(-1))).toBe("Part 1. Part 2. Nearly. ");
      await first.stop();

      // The page is loaded anew, on another instance.
      const read = await at.read();
      expect(read.map(({ role }) => role)).toEqual(["user"]);
      const second = client.open({ ...at, url: at.elsewhere, messages: read, tools });
      const resumed = second.resume();
      await expect.poll(() => textOf(second.messages.at(-1))).toBe("Part 1. Part 2. Nearly. ");
      house.model.release();
      await resumed;
      expect(second.messages.map(textOf)).toEqual([
        `A mug, ${HOLDS}`,
        "Part 1. Part 2. Nearly. It is there.",
      ]);
      expect(used).toEqual(["search", "add"]);
      expect(second.asked).toEqual(["GET /v1/widget/ai-sdk/chat/ID/stream"]);
      // Who read the messages while it went on still gets the reply.
      expect((await at.stream(`?after=${read[0]?.id}`)).text).toContain("It is there.");
      expect((await at.stream(`?after=${second.messages[1]?.id}`)).status).toBe(204);
    });

    test("a call that is pending at a reload is run by the next page", async () => {
      const at = await enter();
      await at.register("search", "add");
      const never = new Promise(() => {});
      const first = client.open({ ...at, tools: { search: () => never } });
      await first.send("A mug");
      const used: string[] = [];
      const tools = { search: () => "found", add: () => void used.push("add") };
      const second = client.open({ ...at, messages: await at.read(), tools });
      await second.resume();
      await expect
        .poll(() => [second.status, textOf(second.messages.at(-1))])
        .toEqual(["ready", expect.stringContaining('Got "found" and')]);
      expect(used).toEqual(["add"]);
    });

    test("a cut connection is an error, not an end; asking again shows the reply once", async () => {
      const at = await enter();
      let breakOff = () => {};
      const cutting: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
        const controller = new AbortController();
        breakOff = () => controller.abort(new TypeError("network error"));
        void response.body?.pipeTo(writable, { signal: controller.signal }).catch(() => {});
        return new Response(readable, response);
      };
      const chat = client.open({ ...at, fetch: cutting });
      const held = house.model.held();
      const sent = chat.send(HOLDS);
      await held;
      await expect.poll(() => textOf(chat.messages.at(-1))).toBe("One two ");
      breakOff();
      await sent;
      expect(chat.status).toBe("error");
      // What a page's Retry does: the message is the same, and is said once.
      const again = chat.regenerate();
      await expect.poll(() => textOf(chat.messages.at(-1))).toBe("One two ");
      house.model.release();
      await again;
      expect(chat.messages.map(textOf)).toEqual([HOLDS, "One two three"]);
      expect((await at.read()).map(textOf)).toEqual([HOLDS, "One two three"]);
    });

    test("stop() disconnects, and the stop endpoint ends the run", async () => {
      const at = await enter();
      const chat = client.open(at);
      const held = house.model.held();
      const sent = chat.send(HOLDS);
      await held;
      await expect.poll(() => textOf(chat.messages.at(-1))).toBe("One two ");
      const other = client.open({ ...at, url: at.elsewhere, messages: await at.read() });
      const watched = other.resume();
      await expect.poll(() => textOf(other.messages.at(-1))).toBe("One two ");
      await chat.stop();
      await sent;
      expect((await at.stopRun()).status).toBe(204);
      await watched;
      expect([other.status, textOf(other.messages.at(-1))]).toEqual(["ready", "One two "]);
      expect((await at.stream()).status).toBe(204);
      house.model.release();
      await chat.send("Hello");
      expect(textOf(chat.messages.at(-1))).toBe("You said: Hello");
    });

    test("a refusal is the client's error, and a retry of what was never said says it", async () => {
      const at = await enter();
      let refusing: number | null = 429;
      const refused: typeof fetch = (input, init) =>
        refusing === null ? fetch(input, init) : Promise.resolve(new Response("", { status: refusing }));
      const chat = client.open({ ...at, fetch: refused });
      await chat.send("Hello");
      expect(chat.status).toBe("error");
      refusing = null;
      await chat.regenerate();
      expect(chat.messages.map(textOf)).toEqual(["Hello", "You said: Hello"]);
      // In place of a reply that is over comes another one.
      await chat.regenerate();
      expect([chat.status, chat.messages.map(textOf)]).toEqual(["ready", ["Hello", "You said: Hello"]]);
      expect((await at.read()).map(textOf)).toEqual(["Hello", "You said: Hello"]);

      const stranger = client.open({ ...at, token: "vt_shop_nobody" });
      await stranger.send("Hello");
      expect(stranger.status).toBe("error");
    });
  });
});
