// For src/http/ag-ui/
import { CopilotKitCore } from "@copilotkit/core";
import type { CopilotKitCoreConfig } from "@copilotkit/core";
import type { AbstractAgent } from "ag-ui-client-0";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { z } from "zod";
import { embedded, openHouse, ORIGIN, redis, webChannel } from "../../scenarios/houses.ts";
import type { House, Site } from "../../scenarios/houses.ts";
import { ask, objectOf } from "../../scenarios/page.ts";
import { call, hold, lastUserText, say } from "../../support/servers/model-server.ts";
import type { ModelServerRequest, ScriptedTurn } from "../../support/servers/model-server.ts";
import { textsOf } from "./clients.ts";
import type { ShownMessage } from "./clients.ts";

/**
 * CopilotKit's own core, which its React components are made on; on Redis, where a page is loaded anew on another instance,
 * what that can change alone, unless AI_SDK_TESTS=full.
 */
const SITES = inject("stores").map((kind): Site => (kind === "embedded" ? embedded : redis));

function model(request: ModelServerRequest): ScriptedTurn {
  const said = lastUserText(request);
  const last = request.body.messages.at(-1);
  if (last?.role === "tool") return `The tool says: ${JSON.stringify(last.content)}`;
  if (said.includes("mug")) return [say("One moment. "), call("add", { what: "mug" })];
  return said.includes("wait") ? [say("One "), say("two "), hold(), say("three")] : `You said: ${said}`;
}

describe.each(SITES)("CopilotKit on $name", (site) => {
  const isPlayed = site === embedded || process.env["AI_SDK_TESTS"] === "full";
  let house: House;
  beforeAll(async () => {
    house = await openHouse(site, model);
    await house.putChannel(webChannel("shop"));
    // Where there is none it takes itself for a page that a server draws, and asks nothing.
    vi.stubGlobal("window", { location: new URL(ORIGIN) });
    // What it says of an error it also tells its subscribers.
    vi.spyOn(console, "error").mockImplementation(() => {});
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    await house.close();
  });

  async function enter() {
    const [url = ""] = house.urls;
    const post = (path: string, headers: Record<string, string>) =>
      ask(url, `/v1/widget/${path}`, { headers: { origin: ORIGIN, ...headers } });
    const visitor = await post("visitors", { "x-publishable-key": "pk_shop" });
    const { visitorToken: token } = objectOf<{ visitorToken: string }>(visitor);
    const { threadId } = objectOf<{ threadId: string }>(await post("threads", { "x-visitor-token": token }));
    return { url, token, threadId };
  }

  /** A page that shows the thread, as CopilotChat does it. */
  async function openPage({
    url,
    token,
    threadId,
    add = () => "",
    messageFilter,
  }: {
    url: string;
    token: string;
    threadId: string;
    add?: (input: unknown) => string;
    messageFilter?: CopilotKitCoreConfig["messageFilter"];
  }) {
    const errors: string[] = [];
    const core = new CopilotKitCore({
      runtimeUrl: `${url}/v1/widget/copilotkit`,
      headers: { "x-visitor-token": token, origin: ORIGIN },
      tools: [
        {
          name: "add",
          description: "Puts it into the cart",
          parameters: z.object({ what: z.string() }),
          handler: async (input: unknown) => add(input),
        },
      ],
      ...(messageFilter ? { messageFilter } : {}),
    });
    core.subscribe({ onError: ({ code, error }) => void errors.push(`${code} ${error.message}`) });
    await expect.poll(() => [core.getAgent("default") !== undefined, errors.length > 0]).toContain(true);
    const agent = core.getAgent("default");
    // A cast: the agent's package in its own version of the same.
    const kept = agent as unknown as AbstractAgent | undefined;
    if (!agent || !kept) return { errors, agent: null };
    agent.threadId = threadId;
    const shown = () => kept.messages as ShownMessage[];
    let said = 0;
    return {
      errors,
      agent,
      shown,
      connect: () => core.connectAgent({ agent }),
      async send(text: string) {
        agent.addMessage({ id: `${threadId}-${++said}-${Date.now()}`, role: "user", content: text });
        await core.runAgent({ agent });
      },
      again: () => core.runAgent({ agent }),
      stop: () => core.stopAgent({ agent }),
    };
  }

  async function pageOf(options: Parameters<typeof openPage>[0]) {
    const page = await openPage(options);
    if (page.agent === null) throw new Error(`Cannot open a page: ${page.errors.join()}`);
    return page;
  }

  test.runIf(isPlayed)(
    "two in a row, a page tool with its steps, and all of it again after a reload",
    async () => {
      const at = await enter();
      const added: unknown[] = [];
      const add = (input: unknown) => `${added.push(input)} in the cart`;
      const page = await pageOf({ ...at, add });
      await page.connect();
      await page.send("Hello");
      await page.send("A mug");
      expect(added).toEqual([{ what: "mug" }]);
      const told = ["Hello", "You said: Hello", "A mug", "One moment. ", 'The tool says: "1 in the cart"'];
      expect(textsOf(page.shown())).toEqual(told);
      expect(page.shown().filter(({ role }) => role === "activity")).toMatchObject([
        { content: { id: "add", phase: "done" } },
      ]);
      const next = await pageOf({ ...at, url: house.urls.at(-1) ?? at.url, add });
      await next.connect();
      expect(textsOf(next.shown())).toEqual([...told.slice(0, 3), told.slice(3).join("")]);
      expect(added).toHaveLength(1);
      expect([...page.errors, ...next.errors]).toEqual([]);
    },
  );

  test("another page sees a reply in progress to its end, also where that is a stop", async () => {
    const at = await enter();
    const page = await pageOf(at);
    for (const isStopped of [false, true]) {
      const held = house.model.held();
      const sent = page.send("wait");
      await held;
      await expect.poll(() => textsOf(page.shown()).at(-1)).toBe("One two ");
      const tab = await pageOf({ ...at, url: house.urls.at(-1) ?? at.url });
      const connected = tab.connect();
      await expect.poll(() => textsOf(tab.shown()).at(-1)).toBe("One two ");
      if (isStopped) page.stop();
      else house.model.release();
      await Promise.all([sent, connected]);
      if (isStopped) house.model.release();
      expect(textsOf(tab.shown()).at(-1)).toBe(isStopped ? "One two " : "One two three");
      expect([...page.errors, ...tab.errors]).toEqual([]);
    }
  });

  test.runIf(isPlayed)("a refusal is told as an error, and the message is said when it may be", async () => {
    const at = await enter();
    const page = await pageOf(at);
    const stranger = await openPage({ ...at, token: "vt_shop_nobody" });
    expect([stranger.agent, stranger.errors[0]]).toEqual([null, expect.stringContaining("runtime_info")]);
    const refusing = vi.spyOn(globalThis, "fetch");
    for (const status of [429, 401, 403]) {
      refusing.mockImplementationOnce(() => Promise.resolve(new Response("", { status })));
      if (status === 429) await page.send("Hello");
      else await page.again();
      expect(page.errors.at(-1)).toContain(`HTTP ${status}`);
    }
    refusing.mockRestore();
    await page.again();
    expect(textsOf(page.shown())).toEqual(["Hello", "You said: Hello"]);
  });

  test.runIf(isPlayed)("a page that sends its last message alone talks, and calls its tools", async () => {
    const page = await pageOf({
      ...(await enter()),
      add: () => "added",
      messageFilter: (all) => all.slice(-1),
    });
    await page.connect();
    await page.send("Hello");
    await page.send("A mug");
    const told = ["Hello", "You said: Hello", "A mug", "One moment. ", 'The tool says: "added"'];
    expect([textsOf(page.shown()), page.errors]).toEqual([told, []]);
  });

  test.runIf(isPlayed)(
    "such a page has a reply that was cut off by connecting: to run again is refused, as that sends a part of the reply",
    async () => {
      const at = await enter();
      const first = await pageOf(at);
      await first.send("Hello");
      const held = house.model.held();
      const sent = first.send("wait");
      await held;
      await expect.poll(() => textsOf(first.shown()).at(-1)).toBe("One two ");

      // The same page as a cut leaves it: with what it had of the reply, and nothing that goes on.
      const page = await pageOf({ ...at, messageFilter: (all) => all.slice(-1) });
      page.agent.setMessages(first.agent.messages);
      await page.again();
      // It tells of one failure twice.
      const refused = ["agent_run_failed_event HTTP 422: ", "agent_run_failed HTTP 422: "];
      expect(page.errors).toEqual(refused);
      expect(textsOf(page.shown())).toEqual(["Hello", "You said: Hello", "wait", "One two "]);

      const connected = page.connect();
      house.model.release();
      await Promise.all([sent, connected]);
      expect(textsOf(page.shown())).toEqual(["Hello", "You said: Hello", "wait", "One two three"]);
      expect(page.errors).toEqual(refused);
    },
  );
});
