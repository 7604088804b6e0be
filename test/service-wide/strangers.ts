import { afterAll, beforeAll, expect, test } from "vitest";
import { SECRET_KEY } from "../http/service.ts";
import { call } from "../support/servers/model-server.ts";
import type { Got } from "./clients/ask.ts";
import { describeEachListener } from "../support/servers/each-listener.ts";
import type { Reach, Reached } from "./clients/reached.ts";

export function describeStrangers(reach: Reach): void {
  describeEachListener("whose a thread is", (listener) => {
    let whole: Reached;
    beforeAll(async () => {
      whole = await reach(listener);
    });
    afterAll(() => whole.close());

    /** Routes of each kind that name a thread, with good requests; all that there are: http/strangers. */
    async function routesOfEachKind(token: string, threadId: string): Promise<Got[]> {
      return await Promise.all([
        whole.visitor(token, "GET", `threads/${threadId}/messages`),
        whole.visitor(token, "GET", `threads/${threadId}/stream`),
        whole.visitor(token, "POST", `threads/${threadId}/cancel`),
        whole.visitor(token, "POST", "messages", { threadId, text: "x" }),
        whole.visitor(token, "POST", "tools", { threadId, webmcpTools: [{ name: "a" }] }),
        whole.visitor(token, "POST", "tool-results", { threadId, callId: "c", tool: "cart", result: 1 }),
      ]);
    }
    const seen = ({ status, headers, bytes }: Got) => ({ status, headers, bytes: bytes.toString("hex") });

    test("P14 another visitor's thread is byte for byte no thread, on routes of each kind, whatever state it is in", async () => {
      const owner = await whole.newToken();
      const empty = await whole.newThread(owner);
      const told = await whole.newThread(owner);
      await whole.visitor(owner, "POST", "messages", { threadId: told, text: "x" });
      const pending = await whole.newThread(owner);
      const webmcpTools = [{ name: "cart" }];
      await whole.visitor(owner, "POST", "tools", { threadId: pending, webmcpTools });
      whole.model.enqueue([call("cart")]);
      const stream = await whole.visitor(owner, "POST", "messages", { threadId: pending, text: "x" });
      expect(stream.lines().at(-1)).toMatchObject({ type: "tool_call" });

      const stranger = await whole.newToken();
      const calls = whole.model.requests.length;
      const noThread = (await routesOfEachKind(stranger, "A".repeat(22))).map(seen);
      expect(noThread.map(({ status }) => status)).toEqual(Array(6).fill(404));
      for (const threadId of [empty, told, pending]) {
        expect((await routesOfEachKind(stranger, threadId)).map(seen)).toEqual(noThread);
      }
      expect((await routesOfEachKind(stranger, "no-uid-at-all")).map(seen)).toEqual(noThread);
      expect(whole.model.requests).toHaveLength(calls);
      const own = await whole.visitor(owner, "GET", `threads/${pending}/stream`);
      expect(own.lines().at(-1)).toEqual(stream.lines().at(-1));
    });

    test("after a merge the token acts as the account: both sides' threads are its own", async () => {
      const said = { threadId: "of-the-account", userId: "acc", text: "Hi", channel: "shop" };
      await whole.transport("/v1/messages", said);
      const token = await whole.newToken();
      const threadId = await whole.newThread(token);
      await whole.visitor(token, "POST", "messages", { threadId, text: "Hello" });
      const identified = await whole.ask({
        method: "POST",
        path: "/v1/channels/shop/identify",
        headers: { authorization: `Bearer ${SECRET_KEY}`, "content-type": "application/json" },
        body: JSON.stringify({ visitorToken: token, externalUserId: "acc" }),
      });
      expect(identified.json()).toMatchObject({ merged: true });
      for (const [id, first] of [
        [threadId, "Hello"],
        ["of-the-account", "Hi"],
      ] as const) {
        const got = await whole.visitor(token, "GET", `threads/${id}/messages`);
        expect([got.status, got.json()]).toMatchObject([200, { items: [{ content: first }, {}] }]);
      }
      const stranger = await whole.newToken();
      const refused = await whole.visitor(stranger, "GET", "threads/of-the-account/messages");
      expect(refused.status).toBe(404);
    });
  });
}
