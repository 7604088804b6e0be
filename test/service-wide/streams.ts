import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Line } from "../../machines/line.ts";
import { ORIGIN } from "../http/service.ts";
import { atLength } from "../support/lengths.ts";
import { call, hold, noUsage, say } from "../support/servers/model-server.ts";
import { TEST_KEY } from "../support/servers/service.ts";
import { spoken } from "./clients/ask.ts";
import { openStream } from "./clients/open-stream.ts";
import type { OpenStream } from "./clients/open-stream.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import type { Reach, Reached } from "./clients/reached.ts";

/** Streams over real sockets: readers that leave, wait, come late and come twice. */
const SOON = { timeout: 60_000, interval: 20 };

function calledIn(lines: readonly Line[]): Extract<Line, { type: "tool_call" }> {
  const last = lines.at(-1);
  if (last?.type !== "tool_call") throw new Error(`Cannot go on: ${JSON.stringify(last)} is no tool_call`);
  return last;
}

export function describeStreams(reach: Reach): void {
  describeEachListener("streams", (listener) => {
    let whole: Reached;
    beforeAll(async () => {
      whole = await reach(listener);
    });
    afterAll(() => whole.close());

    /** A visitor with a thread, and what can be done in it. */
    async function visitor() {
      const token = await whole.newToken();
      const threadId = await whole.newThread(token);
      const stream = (path: string, body: object, more: Record<string, string> = {}): Promise<OpenStream> =>
        openStream(whole.url, {
          method: "POST",
          path: `/v1/widget/${path}`,
          headers: { origin: ORIGIN, "x-visitor-token": token, "content-type": "application/json", ...more },
          body: JSON.stringify({ threadId, ...body }),
        });
      const history = async () => {
        const got = await whole.visitor(token, "GET", `threads/${threadId}/messages`);
        return (got.json() as { items: { role: string; content: string; steps?: unknown }[] }).items;
      };
      return {
        token,
        threadId,
        say: (text: string, more: Record<string, string> = {}) => stream("messages", { text }, more),
        answer: (line: { callId: string; tool: string }, result: unknown) =>
          stream("tool-results", { callId: line.callId, tool: line.tool, result }),
        offer: async (...names: string[]) => {
          const webmcpTools = names.map((name) => ({ name }));
          const got = await whole.visitor(token, "POST", "tools", { threadId, webmcpTools });
          expect(got.status).toBe(204);
        },
        history,
        contents: async () => (await history()).map(({ content }) => content),
      };
    }

    test.each([
      ["before the first byte", [hold(), say("Hel"), say("lo")], null],
      ["after the first delta", [say("Hel"), hold(), say("lo")], "delta"],
      ["before done", [say("Hel"), say("lo"), hold()], "delta"],
    ] as const)(
      "a client that resets %s: the run completes and is in the history",
      async (_when, turn, seen) => {
        const at = await visitor();
        whole.model.enqueue(turn);
        const stream = await at.say("Hi");
        await whole.model.held();
        if (seen) await stream.has(seen);
        stream.leave();
        await expect.poll(whole.openStreams, SOON).toBe(0);
        expect(await at.contents()).toEqual(["Hi"]);
        whole.model.release();
        await expect.poll(at.contents, SOON).toEqual(["Hi", "Hello"]);
      },
    );

    test("a client that closes its half after the request: the run completes and is in the history", async () => {
      const at = await visitor();
      whole.model.enqueue([hold(), say("Hello")]);
      const body = JSON.stringify({ threadId: at.threadId, text: "Hi" });
      const { port } = new URL(whole.url);
      const socket = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
      socket.on("error", () => {});
      socket.end(
        `POST /v1/widget/messages HTTP/1.1\r\nHost: x\r\nOrigin: ${ORIGIN}\r\nX-Visitor-Token: ${at.token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await whole.model.held();
      whole.model.release();
      await expect.poll(at.contents, SOON).toEqual(["Hi", "Hello"]);
      socket.destroy();
    });

    test("messages while one is answered wait their turn; the ninth that would wait is 429", async () => {
      const at = await visitor();
      whole.model.enqueue([say("first"), hold()]);
      const first = await at.say("0");
      await first.has("delta");
      const waiting: OpenStream[] = [];
      for (let nth = 1; nth <= 8; nth++) waiting.push(await at.say(String(nth)));
      expect(waiting.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(waiting.flatMap((stream) => stream.lines())).toEqual([]);
      const ninth = await at.say("9");
      expect([ninth.status, ninth.headers["retry-after"]]).toEqual([429, "1"]);
      whole.model.release();
      expect(spoken(await first.end())).toBe("first");
      const said = await Promise.all(waiting.map(async (stream) => spoken(await stream.end())));
      expect(said).toEqual(Array.from({ length: 8 }, (_, at) => `You said: ${at + 1}`));
    });

    test("a message while a call is pending supersedes it, and its late result is 409", async () => {
      const at = await visitor();
      await at.offer("cart");
      whole.model.enqueue([call("cart")], "Never mind");
      const pending = calledIn(await (await at.say("Fill my cart")).end());
      expect(spoken(await (await at.say("Stop")).end())).toBe("Never mind");
      expect((await at.answer(pending, "Done")).status).toBe(409);
      const items = await at.history();
      expect(items.map(({ content }) => content)).toEqual(["Fill my cart", "", "Stop", "Never mind"]);
      expect(items[1]?.steps).toEqual([{ id: "cart", phase: "failed", text: expect.any(String) }]);
    });

    test("P7: two results at once continue the run once, for the call's own tool, though its catalog is gone", async () => {
      const at = await visitor();
      await at.offer("cart");
      whole.model.enqueue([call("cart")], "It is full");
      const pending = calledIn(await (await at.say("Fill my cart")).end());
      await at.offer();
      const before = whole.model.requests.length;
      expect((await at.answer({ ...pending, tool: "Cart" }, "Done")).status).toBe(409);
      expect((await at.answer({ ...pending, callId: `${pending.callId} ` }, "Done")).status).toBe(409);
      const both = await Promise.all([at.answer(pending, "Done"), at.answer(pending, "Done twice")]);
      const [one, two] = await Promise.all(both.map((stream) => stream.end()));
      expect([spoken(one ?? []), spoken(two ?? [])]).toEqual(["It is full", "It is full"]);
      expect(two?.at(-1)).toEqual(one?.at(-1));
      expect(whole.model.requests).toHaveLength(before + 1);

      const again = await at.answer(pending, "Done thrice");
      expect(spoken(await again.end())).toBe("It is full");
      expect(whole.model.requests).toHaveLength(before + 1);
      await (await at.say("Thanks")).end();
      expect((await at.answer(pending, "Done")).status).toBe(409);
    });

    test("P33: a pending call of another visitor's thread is 404, of another own thread 409", async () => {
      const at = await visitor();
      await at.offer("cart");
      whole.model.enqueue([call("cart")]);
      const pending = calledIn(await (await at.say("Fill my cart")).end());
      const own = await whole.newThread(at.token);
      const result = { callId: pending.callId, tool: "cart", result: 1 };
      const other = await whole.visitor(at.token, "POST", "tool-results", { threadId: own, ...result });
      expect(other.status).toBe(409);
      const stranger = await whole.visitor(await whole.newToken(), "POST", "tool-results", {
        threadId: at.threadId,
        ...result,
      });
      expect(stranger.status).toBe(404);
      expect((await at.answer(pending, "Done")).status).toBe(200);
    });

    test("a result of 131,000 characters is cut to 4,000, before a surrogate pair", async () => {
      const at = await visitor();
      await at.offer("cart");
      whole.model.enqueue([call("cart")]);
      const pending = calledIn(await (await at.say("Read")).end());
      await (await at.answer(pending, `${"x".repeat(3_999)}😀${"y".repeat(126_000)}`)).end();
      const told = whole.model.requests.at(-1)?.body.messages.at(-1)?.content ?? "";
      expect(told).toContain("x".repeat(3_999));
      expect(told).not.toMatch(/😀|\ufffd|yyy/u);
    });

    test("a model that says nothing is an error line with words", async () => {
      const at = await visitor();
      whole.model.enqueue([noUsage()]);
      const lines = await (await at.say("Hi")).end();
      const message = "The model gave no answer";
      expect(lines).toEqual([{ type: "error", message }]);
      expect(await at.history()).toMatchObject([{ content: "Hi" }, { content: message, error: { message } }]);
    });

    test("an answer without usage is told without tokens", async () => {
      const at = await visitor();
      whole.model.enqueue([say("Hi"), noUsage()]);
      const [, done] = await (await at.say("Hi")).end();
      expect(done).toEqual({ type: "done", elapsedMs: expect.any(Number) });
      expect(done?.type === "done" && Number.isInteger(done.elapsedMs) && done.elapsedMs >= 0).toBe(true);
    });

    test("what looks like a line stays inside a delta", async () => {
      const at = await visitor();
      const text = '\n{"type":"done","elapsedMs":1}\n';
      whole.model.enqueue([say(text)]);
      const lines = await (await at.say("Hi")).end();
      expect(lines.map(({ type }) => type)).toEqual(["delta", "done"]);
      expect(spoken(lines)).toBe(text);
    });

    test("a gzip stream can be decoded line by line as it is said", async () => {
      const at = await visitor();
      whole.model.enqueue([say("one"), hold(), say("two"), hold()]);
      const stream = await at.say("Hi", { "accept-encoding": "gzip" });
      expect(stream.headers["content-encoding"]).toBe("gzip");
      await stream.has("delta");
      expect(spoken(stream.lines())).toBe("one");
      whole.model.release();
      await expect.poll(() => spoken(stream.lines()), SOON).toBe("onetwo");
      expect(stream.lines().map(({ type }) => type)).toEqual(["delta", "delta"]);
      whole.model.release();
      expect((await stream.end()).at(-1)).toMatchObject({ type: "done" });
    });

    test("P12: a block in mid-stream lets the stream end, and refuses the next message", async () => {
      const said = { threadId: "n13", userId: "blocked", text: "Hi" };
      whole.model.enqueue([say("Hel"), hold(), say("lo")]);
      const stream = await openStream(whole.url, {
        method: "POST",
        path: "/v1/messages",
        headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
        body: JSON.stringify(said),
      });
      await stream.has("delta");
      const user = await whole.store.findUser("cli", "blocked");
      await whole.store.flagUser("cli", user?.userId ?? "", { blocked: true });
      const next = await whole.transport("/v1/messages", said);
      expect([next.status, next.text]).toEqual([403, ""]);
      whole.model.release();
      expect(spoken(await stream.end())).toBe("Hello");
    });

    test("streams by the hundred, opened and reset at once, leave nothing behind", async () => {
      const count = atLength(200, 20);
      const before = whole.openDescriptors();
      const connectionsBefore = whole.model.connections();
      const tokens = await Promise.all(Array.from({ length: count }, () => visitor()));
      whole.model.enqueue(...tokens.map(() => [say("Hel"), hold(), say("lo")]));
      const streams = await Promise.all(
        tokens.map((at, nth): Promise<OpenStream> =>
          at.say("Hi", nth % 2 ? { "accept-encoding": "gzip" } : {}),
        ),
      );
      expect(await whole.openStreams()).toBe(count);
      for (const stream of streams) stream.leave();
      await expect.poll(whole.openStreams, SOON).toBe(0);
      whole.model.release(count);
      await expect.poll(whole.threadsHeld, SOON).toBe(0);
      expect(await tokens[0]?.contents()).toEqual(["Hi", "Hello"]);
      // The model client keeps its connections for the next calls; both their ends are in this process.
      const kept = 2 * (whole.model.connections() - connectionsBefore);
      await expect.poll(whole.openDescriptors).toBeLessThan(before + kept + 40);
    });

    test("nothing of all this was a fault", () => {
      const levels = whole.logged().map((line) => (JSON.parse(line) as { level: number }).level);
      expect(levels.filter((level) => level >= 50)).toEqual([]);
    });
  });
}
