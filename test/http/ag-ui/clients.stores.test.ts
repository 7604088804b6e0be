// For src/http/ag-ui/
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { embedded, openHouse, redis, webChannel } from "../../scenarios/houses.ts";
import type { House, Site } from "../../scenarios/houses.ts";
import { objectOf } from "../../scenarios/page.ts";
import { enterShop, HOLDS, shopModel } from "../front-ends/shop-visitor.ts";
import { CLIENTS, textsOf } from "./clients.ts";
import type { ShownMessage } from "./clients.ts";

/**
 * AG-UI's own client, before and since 1.0, talks to a whole service; on Redis to two instances in turn, the newer version
 * alone, and what the second instance can change, unless AI_SDK_TESTS=full.
 */
const SITES = inject("stores").map((kind): Site => (kind === "embedded" ? embedded : redis));
/** The answer, until the connection breaks. Its reader can be left without a word: the client throws what that rejects with at nobody. */
function breaking(response: Response, until: Promise<void>): Response {
  const reader = response.body?.getReader();
  const broken = until.then((): never => {
    throw new TypeError("network error");
  });
  broken.catch(() => {});
  const read = async () => {
    const got = await Promise.race([broken, reader?.read()]);
    return got?.done ? broken : got;
  };
  // A cast: of a body, the client takes its reader alone.
  const body = { getReader: () => ({ read, cancel: async () => {} }) } as unknown as Response["body"];
  return new Proxy(response, {
    get: (of, name) => (name === "body" ? body : (Reflect.get(of, name, of) as unknown)),
  });
}

interface Item {
  id: string;
  role: string;
  content: string;
  clientMessageId?: string;
}

describe.each(SITES)("on $name", (site) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(site, shopModel);
    await house.putChannel(
      webChannel("shop", { handoff: { enabled: true, message: "A person comes.", waitSeconds: 600 } }),
    );
    // What it says of an error it also throws.
    vi.spyOn(console, "error").mockImplementation(() => {});
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await house.close();
  });

  async function enter() {
    const { askElsewhere, ...at } = await enterShop(house);
    const here = (path: string, method: "GET" | "POST" = "POST") =>
      askElsewhere(`/v1/widget/threads/${at.threadId}/${path}`, method);
    return {
      ...at,
      stopRun: () => here("cancel"),
      askForPerson: () => here("handoff"),
      /** As a page that is loaded begins: the ids of its messages are those that they came with. */
      async read(): Promise<ShownMessage[]> {
        const { items } = objectOf<{ items: Item[] }>(await here("messages", "GET"));
        return items.map(({ id, role, content, clientMessageId }) => ({
          id: clientMessageId ?? id,
          role,
          content,
        }));
      },
    };
  }

  const isFull = process.env["AI_SDK_TESTS"] === "full";
  describe.each(isFull || site === embedded ? CLIENTS : CLIENTS.slice(-1))("$name", (client) => {
    /** What does not depend on the store, or on a second instance. */
    const isPlayed = isFull || site === embedded;

    test.runIf(isPlayed)(
      "two messages in a row: each reply once, what a page has been said in its history",
      async () => {
        const at = await enter();
        const chat = client.open(at);
        await chat.send("Hello");
        await chat.send("Again");
        expect(textsOf(chat.messages)).toEqual(["Hello", "You said: Hello", "Again", "You said: Again"]);
        expect([chat.asked, chat.failed]).toEqual([2, null]);
        expect(chat.finished).toMatchObject({ usage: [{ inputTokens: expect.any(Number) }] });
        expect(textsOf(await at.read())).toEqual(textsOf(chat.messages));
      },
    );

    test("page tools are run once each, what they answer is posted once each, and steps show it", async () => {
      const at = await enter();
      const used: unknown[] = [];
      const tools = {
        search: (input: unknown) => {
          used.push(["search", input]);
          return "mug-7";
        },
        add: () => {
          used.push("add");
          throw new Error("sold out");
        },
      };
      const chat = client.open({ ...at, tools });
      await chat.send("A mug");
      expect(used).toEqual([["search", { what: "mug" }], "add"]);
      expect(chat.asked).toBe(3);
      const texts = textsOf(chat.messages);
      expect(texts.slice(0, 3)).toEqual(["A mug", "Part 1. ", "Part 2. "]);
      expect(texts[3]).toMatch(/^Got .*mug-7.*sold out/);
      const steps = chat.messages.filter(({ role }) => role === "activity");
      expect(steps.map(({ content }) => content)).toMatchObject([
        { id: "search", phase: "done" },
        { id: "add", phase: "failed" },
      ]);
      expect(textsOf(await at.read())).toEqual(["A mug", texts.slice(1).join("")]);
    });

    test("a reload in the middle shows the whole reply, and runs no tool again", async () => {
      const at = await enter();
      const used: string[] = [];
      const tools = { search: () => void used.push("search"), add: () => void used.push("add") };
      const first = client.open({ ...at, tools });
      const held = house.model.held();
      const sent = first.send(`A mug, ${HOLDS}`);
      await held;
      await expect.poll(() => textsOf(first.messages).at(-1)).toBe("Nearly. ");

      // The page is loaded anew, on another instance: it has what the visitor said, and asks with it.
      const read = await at.read();
      expect(read.map(({ role }) => role)).toEqual(["user"]);
      const second = client.open({ ...at, url: at.elsewhere, messages: read, tools });
      const resumed = second.again();
      await expect.poll(() => textsOf(second.messages).slice(1).join("")).toBe("Part 1. Part 2. Nearly. ");
      house.model.release();
      await Promise.all([resumed, sent]);
      expect(textsOf(second.messages).slice(1).join("")).toBe("Part 1. Part 2. Nearly. It is there.");
      expect(textsOf(first.messages).at(-1)).toBe("Nearly. It is there.");
      expect(used).toEqual(["search", "add"]);
      expect(second.asked).toBe(1);
    });

    test("a call that is pending at a reload is run by the next page", async () => {
      const at = await enter();
      const never = new Promise<never>(() => {});
      const first = client.open({ ...at, tools: { search: () => never, add: () => {} } });
      void first.send("A mug");
      await expect.poll(() => first.finished).not.toBeNull();
      const used: string[] = [];
      const tools = { search: () => "found", add: () => void used.push("add") };
      const second = client.open({ ...at, url: at.elsewhere, messages: await at.read(), tools });
      await second.again();
      expect(textsOf(second.messages).at(-1)).toContain("found");
      expect(used).toEqual(["add"]);
    });

    test.runIf(isPlayed)(
      "a cut connection is an error, not an end; asking again shows the reply once",
      async () => {
        const at = await enter();
        let breakOff = () => {};
        const cutting: typeof fetch = async (input, init) => {
          const response = await fetch(input, init);
          if (chat.asked > 1) return response;
          return breaking(response, new Promise((resolve) => (breakOff = () => resolve())));
        };
        const chat = client.open({ ...at, fetch: cutting });
        const held = house.model.held();
        const sent = chat.send(HOLDS);
        await held;
        await expect.poll(() => textsOf(chat.messages).at(-1)).toBe("One two ");
        breakOff();
        await expect(sent).rejects.toThrow("network error");
        const again = chat.again();
        await expect.poll(() => chat.asked).toBe(2);
        house.model.release();
        await again;
        expect(textsOf(chat.messages)).toEqual([HOLDS, "One two three"]);
      },
    );

    test.runIf(isPlayed)("a call in a reply that is told anew is run", async () => {
      const at = await enter();
      const used: string[] = [];
      const tools = { search: () => void used.push("search"), add: () => void used.push("add") };
      // Cut behind the first words: the call is on its way.
      const short: typeof fetch = async (input, init) => {
        const [head = ""] = (await (await fetch(input, init)).text()).split(
          'data: {"type":"TEXT_MESSAGE_END"',
        );
        const hasShown = async () => {
          await expect.poll(() => textsOf(chat.messages).at(-1)).toBe("Part 1. ");
        };
        return breaking(new Response(head), hasShown());
      };
      let isCut = true;
      const send: typeof fetch = (input, init) => (isCut ? short(input, init) : fetch(input, init));
      const chat = client.open({ ...at, tools, fetch: send });
      await expect(chat.send("A mug")).rejects.toThrow("network error");
      isCut = false;
      await chat.again();
      expect(used).toEqual(["search", "add"]);
      expect(textsOf(chat.messages).filter((text) => text.startsWith("Part 1"))).toHaveLength(1);
    });

    test("stopping disconnects, and the cancel endpoint ends the run, which others see as an end", async () => {
      const at = await enter();
      const chat = client.open(at);
      const held = house.model.held();
      const sent = chat.send(HOLDS);
      await held;
      await expect.poll(() => textsOf(chat.messages).at(-1)).toBe("One two ");
      const tab = client.open({ ...at, url: at.elsewhere, messages: await at.read() });
      const watched = tab.again();
      await expect.poll(() => textsOf(tab.messages).at(-1)).toBe("One two ");
      chat.stop();
      await sent;
      expect((await at.stopRun()).status).toBe(204);
      await watched;
      expect([tab.failed, textsOf(tab.messages).at(-1)]).toEqual([null, "One two "]);
      expect(tab.finished).not.toBeNull();
      house.model.release();
      await chat.send("Hello");
      expect(textsOf(chat.messages).at(-1)).toBe("You said: Hello");
    });

    test.runIf(isPlayed)(
      "a refusal is the client's error, with its status; sent again, the message is said",
      async () => {
        const at = await enter();
        let refusing: number | null = 429;
        const refused: typeof fetch = (input, init) =>
          refusing === null ? fetch(input, init) : Promise.resolve(new Response("", { status: refusing }));
        const chat = client.open({ ...at, fetch: refused });
        await expect(chat.send("Hello")).rejects.toMatchObject({ status: 429 });
        refusing = 403;
        await expect(chat.again()).rejects.toMatchObject({ status: 403 });
        refusing = null;
        await chat.again();
        expect(textsOf(chat.messages)).toEqual(["Hello", "You said: Hello"]);
        const stranger = client.open({ ...at, token: "vt_shop_nobody" });
        await expect(stranger.send("Hello")).rejects.toMatchObject({ status: 401 });
      },
    );

    test.runIf(isPlayed)(
      "where a person answers, the message is taken, and the run ends at once",
      async () => {
        const at = await enter();
        expect((await at.askForPerson()).status).toBe(204);
        const chat = client.open(at);
        await chat.send("Is anybody there?");
        expect(chat.finished).toMatchObject({ result: { handledBy: "person" } });
        expect(textsOf(chat.messages)).toEqual(["Is anybody there?"]);
        expect(textsOf(await at.read())).toContain("Is anybody there?");
      },
    );
  });
});
