// For src/http/server-api/messages.ts
import { expect, test } from "vitest";
import { startService, TRANSPORT_KEY } from "../service.ts";

async function open() {
  const service = await startService();
  const headers = { authorization: `Bearer ${TRANSPORT_KEY}` };
  return {
    ...service,
    speak: (body: object, more: Record<string, string> = {}, threadId = "t1") =>
      service.post(`/v1/threads/${threadId}/say`, body, { headers: { ...headers, ...more } }),
    items: async () => {
      const got = await service.ask({ path: "/v1/threads/t1/messages", query: "userId=ada", headers });
      return ((await got.json()) as { items: object[] }).items;
    },
  };
}

test("the service speaks first: to a user and in a thread that are new, once by its id, and no model is asked", async () => {
  const { speak, items, agent } = await open();
  const said = { userId: "ada", text: "Your parcel has arrived." };
  const first = await speak({ ...said, clientMessageId: "k" });
  expect([first.status, await first.json()]).toEqual([201, { id: "1" }]);
  expect(await (await speak(said, { "idempotency-key": "k" })).json()).toEqual({ id: "1" });
  expect((await speak({ ...said, text: "Another one" }, { "idempotency-key": "k" })).status).toBe(422);
  expect(await items()).toEqual([
    {
      id: "1",
      role: "assistant",
      content: "Your parcel has arrived.",
      createdAt: expect.any(Number) as number,
    },
  ]);
  expect(agent.turns).toBe(0);
});

test("bad input says nothing, and neither does a key that is none, nor to who may not talk", async () => {
  const { speak, post, store, renew } = await open();
  expect((await speak({ userId: "ada", text: "" })).status).toBe(422);
  expect((await speak({ userId: "ada" })).status).toBe(422);
  expect((await speak({ userId: "", text: "Hi" })).status).toBe(422);
  expect((await speak({ userId: "ada", text: "Hi", clientMessageId: "" })).status).toBe(422);
  expect((await speak({ userId: "ada", text: "Hi" }, {}, "x".repeat(300))).status).toBe(422);
  const headers = { authorization: "Bearer nobody" };
  expect((await post("/v1/threads/t1/say", { userId: "ada", text: "Hi" }, { headers })).status).toBe(401);
  await speak({ userId: "ada", text: "Hi" });
  const ada = (await store.findUser("cli", "ada"))!;
  await store.flagUser("cli", ada.userId, { blocked: true });
  await renew();
  expect((await speak({ userId: "ada", text: "Hi" })).status).toBe(403);
});

test("in the model's words: the answer names a run whose stream can be read, and the instruction is in no history", async () => {
  const { speak, items, agent, ask } = await open();
  const said = {
    userId: "ada",
    instruction: "Ask how the order was",
    context: { order: "1001" },
    locale: "de",
  };
  const answer = await speak({ ...said, clientMessageId: "k" });
  const { runId } = (await answer.json()) as { runId: string };
  const turn = await agent.turn();
  expect(turn.turn.run).toMatchObject({
    turns: [{ type: "instruction", text: "Ask how the order was" }],
    speaker: { customerContext: { order: "1001" }, locale: "de" },
  });
  turn.write("How was it?");
  turn.finish();
  const headers = { authorization: `Bearer ${TRANSPORT_KEY}` };
  const query = `userId=ada&run=${runId}`;
  const stream = await ask({ path: "/v1/threads/t1/stream", query, headers });
  expect(await stream.text()).toContain("How was it?");
  expect(await (await speak({ ...said, clientMessageId: "k" })).json()).toEqual({ runId });
  expect(await items()).toMatchObject([{ id: "1", role: "assistant", content: "How was it?" }]);
  expect((await speak({ ...said, text: "Both" })).status).toBe(422);
});
