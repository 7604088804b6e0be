// For src/agent/mcp/
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { McpServers } from "../../../src/agent/mcp/sessions.ts";
import { openHttpServer } from "../../support/servers/http-server.ts";
import type { McpHttpServer } from "./mcp-http-server.ts";
import { callOf, names, never, openServer, openSessions, tool } from "./sessions.ts";

describe("a server over HTTP", () => {
  it("has all pages of its tools listed once, with its headers sent", async () => {
    const server = await openServer([[tool("a"), tool("b")], [tool("c")]]);
    const servers: McpServers = { s: { url: server.url, headers: { authorization: "Bearer t0ken" } } };
    const sessions = openSessions();
    expect(names(await sessions.tools("shop", servers, never()))).toEqual(["a", "b", "c"]);
    expect(names(await sessions.tools("shop", servers, never()))).toEqual(["a", "b", "c"]);
    expect(server.lists()).toBe(1);
    expect(server.sessions()).toBe(1);
    expect(server.headers["authorization"]).toBe("Bearer t0ken");
  });

  it("has read-only and idempotent tools marked as repeatable, and no others", async () => {
    const server = await openServer([
      [
        tool("read", { annotations: { readOnlyHint: true } }),
        tool("put", { annotations: { idempotentHint: true } }),
        tool("pay", { annotations: { destructiveHint: true } }),
        tool("plain"),
      ],
    ]);
    const servers: McpServers = { s: { url: server.url, tools: { allow: ["read", "put", "pay", "plain"] } } };
    const tools = await openSessions().tools("shop", servers, never());
    expect(tools.map(({ repeatable }) => repeatable)).toEqual([true, true, false, false]);
    expect(tools.map(({ readOnly }) => readOnly)).toEqual([true, false, false, false]);
  });

  it("is listed again when it says that its tools changed", async () => {
    const server = await openServer([[tool("old")]]);
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    expect(names(await sessions.tools("shop", servers, never()))).toEqual(["old"]);
    server.pages = [[tool("new")]];
    const offered = async () => {
      await server.announce();
      return names(await sessions.tools("shop", servers, never()));
    };
    await expect.poll(offered).toEqual(["new"]);
  });

  it("is listed again after five minutes, and no turn waits for it", async () => {
    const server = await openServer([[tool("old")]]);
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    const offered = async () => names(await sessions.tools("shop", servers, never()));
    expect(await offered()).toEqual(["old"]);
    server.pages = [[tool("new")]];
    sessions.clock.ms = 299_999;
    expect(await offered()).toEqual(["old"]);
    sessions.clock.ms = 300_000;
    expect(await offered()).toEqual(["old"]);
    await expect.poll(offered).toEqual(["new"]);
    expect([server.lists(), server.sessions()]).toEqual([2, 1]);
  });

  it("that was restarted with other tools is connected anew after five minutes, without a call", async () => {
    const server = await openServer([[tool("old")]]);
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    const offered = async () => names(await sessions.tools("shop", servers, never()));
    await offered();
    server.pages = [[tool("new")]];
    server.forget();
    sessions.clock.ms = 300_000;
    expect(await offered()).toEqual(["old"]);
    await expect.poll(offered).toEqual(["new"]);
    expect(sessions.ill()).toEqual([]);
  });

  it("is connected anew after a restart, and a call that it did not take is made again", async () => {
    const server = await openServer([[tool("pay")]]);
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    await sessions.tools("shop", servers, never());
    server.forget();
    const answer = await sessions.call("shop", servers, callOf("s", "pay"), never());
    expect(answer).toEqual({ text: "pay did it", isError: false });
    expect(server.calls).toHaveLength(1);
    expect(server.sessions()).toBe(2);
  });

  it("answers with structured content alone, or in parts, cut to 4,000 characters", async () => {
    const server = await openServer([[tool("a")]], ({ name }) =>
      Promise.resolve(
        name === "structured"
          ? { content: [], structuredContent: { celsius: 3 } }
          : { content: [{ type: "text", text: "x".repeat(5_000) }] },
      ),
    );
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    const ask = (name: string) => sessions.call("shop", servers, callOf("s", name), never());
    expect((await ask("structured")).text).toBe('{"celsius":3}');
    expect((await ask("long")).text).toHaveLength(4_000);
  });

  it("answers with its own error as an error", async () => {
    const server = await openServer([[tool("a")]], () => Promise.reject(new Error("Out of stock")));
    const answer = await openSessions().call("shop", { s: { url: server.url } }, callOf("s", "a"), never());
    expect(answer).toEqual({ text: expect.stringContaining("Out of stock") as string, isError: true });
  });

  it.each([-32_000, -32_001, 400, 404, 1_001])("answers with an error of its own code %i", async (code) => {
    const out = Object.assign(new Error("Out of stock"), { code });
    const server = await openServer([[tool("a")]], () => Promise.reject(out));
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    const answer = await sessions.call("shop", servers, callOf("s", "a", {}, true), never());
    expect(answer).toEqual({ text: expect.stringContaining("Out of stock") as string, isError: true });
    expect([server.calls.length, server.sessions()]).toEqual([1, 1]);
  });

  /** A call that waits for its answer, while another one meets what is played by then. */
  async function besideAnother(meets: (server: McpHttpServer) => void) {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const server = await openServer([[tool("slow")]], async () => {
      await finished;
      return { content: [{ type: "text", text: "late" }] };
    });
    const servers: McpServers = { s: { url: server.url } };
    const sessions = openSessions();
    const slow = sessions.call("shop", servers, callOf("s", "slow"), never());
    await expect.poll(() => server.calls).toHaveLength(1);
    meets(server);
    const other = await sessions.call("shop", servers, callOf("s", "pay"), never());
    server.refusesWith = null;
    return { sessions, servers, other, slow, finish, server };
  }

  it.each([403, 413, 429])("that refuses one call with %i costs no other its answer", async (status) => {
    const { other, slow, finish, server } = await besideAnother((met) => (met.refusesWith = status));
    const text = `The tool's server refused the call (${status}). It did nothing.`;
    expect(other).toEqual({ text, isError: true });
    finish();
    expect(await slow).toEqual({ text: "late", isError: false });
    expect(server.sessions()).toBe(1);
  });

  it.each([408, 500, 502, 503])(
    "that fails at one call with %i costs no other its answer",
    async (status) => {
      const { sessions, servers, other, slow, finish, server } = await besideAnother(
        (met) => (met.refusesWith = status),
      );
      expect(other.text).toContain("Whether it did its work is unknown");
      // What comes after it has a connection of its own.
      await sessions.tools("shop", servers, never());
      expect(server.sessions()).toBe(2);
      finish();
      expect(await slow).toEqual({ text: "late", isError: false });
    },
  );

  it("that is left with a call under way on a former connection is left at once", async () => {
    const { sessions, slow } = await besideAnother((met) => (met.refusesWith = 500));
    await sessions.close();
    expect((await slow).isError).toBe(true);
  });

  it("is not waited for longer than the time limit of a call", async () => {
    const server = await openServer([[tool("a")]], () => new Promise(() => {}));
    const sessions = openSessions({ callMs: 60_000 });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const calling = sessions.call("shop", { s: { url: server.url } }, callOf("s", "a", {}, true), never());
    // Looking lets as much time pass as it takes.
    await vi.waitUntil(() => server.calls.length === 1, { interval: 5, timeout: 30_000 });
    vi.advanceTimersByTime(60_000);
    expect(await calling).toEqual({
      text: expect.stringContaining("did not answer within") as string,
      isError: true,
    });
    expect(server.calls).toHaveLength(1);
  });

  it("is left by a call whose run was stopped, with the signal's reason", async () => {
    const server = await openServer([[tool("a")]], () => new Promise(() => {}));
    const controller = new AbortController();
    const calling = openSessions().call(
      "shop",
      { s: { url: server.url } },
      callOf("s", "a"),
      controller.signal,
    );
    await expect.poll(() => server.calls).toHaveLength(1);
    controller.abort(new Error("stopped"));
    await expect(calling).rejects.toThrow("stopped");
  });

  it("is replaced when its settings change, and calls under way get their answers", async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const server = await openServer([[tool("slow")]], async () => {
      await finished;
      return { content: [{ type: "text", text: "late" }] };
    });
    const sessions = openSessions();
    const before: McpServers = { s: { url: server.url } };
    const calling = sessions.call("shop", before, callOf("s", "slow"), never());
    await expect.poll(() => server.calls).toHaveLength(1);
    const after: McpServers = { s: { url: server.url, headers: { "x-version": "2" } } };
    await sessions.tools("shop", after, never());
    expect(server.sessions()).toBe(2);
    expect(server.headers["x-version"]).toBe("2");
    finish();
    expect(await calling).toEqual({ text: "late", isError: false });
    const gone = await sessions.call("shop", {}, callOf("s", "slow"), never());
    expect(gone).toEqual({ text: "This tool is no longer available.", isError: true });
  });
});

describe("a server that is down", () => {
  it("costs its own tools, and is asked again only after a pause that grows", async () => {
    const well = await openServer([[tool("a")]]);
    const attempts = await brokenServer();
    const servers: McpServers = { ill: { url: attempts.url }, well: { url: well.url } };
    const sessions = openSessions();
    const ask = async () => names(await sessions.tools("shop", servers, never()));

    expect(await ask()).toEqual(["a"]);
    expect(await ask()).toEqual(["a"]);
    expect(attempts.count()).toBe(1);
    const answer = await sessions.call("shop", servers, callOf("ill", "x"), never());
    expect(answer).toEqual({ text: "The tool cannot be reached at the moment.", isError: true });
    expect(attempts.count()).toBe(1);

    sessions.clock.ms += 1_000;
    await ask();
    expect(attempts.count()).toBe(2);
    sessions.clock.ms += 1_000;
    await ask();
    expect(attempts.count()).toBe(2);
    sessions.clock.ms += 1_000;
    await ask();
    expect(attempts.count()).toBe(3);
  });

  it("is given up after the time limit when it takes connections and says nothing", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const sessions = openSessions({ connectMs: 100 });
    expect(await sessions.tools("shop", { s: { url: `http://127.0.0.1:${port}/mcp` } }, never())).toEqual([]);
  });

  it("P15: tells the model no address", async () => {
    const attempts = await brokenServer();
    const answer = await openSessions().call("shop", { s: { url: attempts.url } }, callOf("s", "x"), never());
    expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN|http/);
  });
});

/** Answers every request with 503. */
async function brokenServer(): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const origin = await openHttpServer((_request, response) => {
    count += 1;
    response.writeHead(503).end();
  });
  return { url: `${origin}/mcp`, count: () => count };
}
