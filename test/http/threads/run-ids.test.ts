// For src/http/widget-api/, src/threads/say/
import { describe, expect, test } from "vitest";
import { ORIGIN, TRANSPORT_KEY, startService } from "../service.ts";
import type { Got, Service } from "../service.ts";

/** A visitor's thread in which messages are said, and runs are followed. */
async function conversation(): Promise<
  Service & { say: (text: string) => Promise<Got>; follow: (query?: string) => Promise<Got> }
> {
  const service = await startService();
  const { post, ask, newToken, newThread } = service;
  const token = await newToken();
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  const threadId = await newThread(token);
  return {
    ...service,
    say: (text) => post("/v1/widget/messages", { threadId, text }, { headers }),
    follow: (query = "") => ask({ path: `/v1/widget/threads/${threadId}/stream`, query, headers }),
  };
}

function runOf({ headers }: Got): string {
  return headers["x-run-id"] ?? expect.fail("the stream names no run");
}

describe("the stream of one run", () => {
  test("is named by x-run-id, which a page may read, and re-attaching names the same", async () => {
    const { say, follow, agent } = await conversation();
    const said = await say("One");
    expect(said.headers["access-control-expose-headers"]).toBe("retry-after, x-run-id");
    (await agent.turn()).finish();
    await said.text();
    expect(runOf(await follow())).toBe(runOf(said));
  });

  test("is named on the server API too", async () => {
    const { post, agent } = await startService();
    const headers = { authorization: `Bearer ${TRANSPORT_KEY}` };
    const said = await post("/v1/messages", { threadId: "t", userId: "ada", text: "Hello" }, { headers });
    (await agent.turn()).finish();
    await said.text();
    expect(runOf(said)).toMatch(/./);
  });

  test("is shown where a later run has followed it: its text and its end, and not the later one's", async () => {
    const { say, follow, agent } = await conversation();
    const one = await say("One");
    const turn = await agent.turn();
    turn.write("First");
    turn.finish();
    const lines = await one.lines();
    const two = await say("Two");
    expect(await (await follow(`run=${runOf(one)}`)).lines()).toEqual(lines);
    (await agent.turn()).finish();
    await two.text();
    const again = await follow(`run=${runOf(one)}`);
    expect(runOf(again)).toBe(runOf(one));
    expect(await again.lines()).toEqual(lines);
  });

  test("is followed where the run waits for its turn", async () => {
    const { say, follow, agent } = await conversation();
    await say("One");
    const first = await agent.turn();
    const two = await say("Two");
    const waiting = await follow(`run=${runOf(two)}`);
    expect(waiting.status).toBe(200);
    const told = waiting.lines();
    first.write("First");
    first.finish();
    const second = await agent.turn();
    second.write("Second");
    second.finish();
    expect(await told).toEqual(await two.lines());
    expect(await told).toMatchObject([{ type: "delta", text: "Second" }, { type: "done" }]);
  });

  test.each(["run=unknown", "run=", "run=%00", "run=__proto__"])(
    "is 404, and never another one, where the thread has no such run: %s",
    async (query) => {
      const { say, follow, agent } = await conversation();
      expect((await follow(query)).status).toBe(404);
      const said = await say("One");
      expect((await follow(query)).status).toBe(404);
      (await agent.turn()).finish();
      await said.text();
      const refused = await follow(query);
      expect(refused.status).toBe(404);
      expect(await refused.text()).toBe("");
    },
  );

  test("of another thread is 404", async () => {
    const { say, agent, post, ask, newToken, newThread } = await conversation();
    const said = await say("One");
    (await agent.turn()).finish();
    await said.text();
    const token = await newToken();
    const headers = { origin: ORIGIN, "x-visitor-token": token };
    const threadId = await newThread(token);
    const path = `/v1/widget/threads/${threadId}/stream`;
    expect((await ask({ path, query: `run=${runOf(said)}`, headers })).status).toBe(404);
    void (await post("/v1/widget/messages", { threadId, text: "Hello" }, { headers }));
    expect((await ask({ path, query: `run=${runOf(said)}`, headers })).status).toBe(404);
    (await agent.turn()).finish();
  });
});
