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
