// For src/threads/say/
import { describe, expect, test } from "vitest";
import { ORIGIN, TRANSPORT_KEY, startService } from "../service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };
const said = { threadId: "chat-1", userId: "ada", text: "Hello" };

describe("P31: a message with an id of its caller's is said once", () => {
  test.each([
    ["clientMessageId", { ...said, clientMessageId: "m 1 Ü" }, bearer],
    ["Idempotency-Key, as it stands", said, { ...bearer, "idempotency-key": '"m-1"' }],
    ["both, and the same", { ...said, clientMessageId: "m1" }, { ...bearer, "idempotency-key": "m1" }],
  ])("on the server API, by %s", async (_, body, headers) => {
    const { post, agent } = await startService();
    const first = await post("/v1/messages", body, { headers });
    const turn = await agent.turn();
    turn.write("Hi");
    turn.finish();
    const lines = await first.lines();
    expect(lines.at(-1)).toMatchObject({ type: "done" });
    const repeat = await post("/v1/messages", body, { headers });
    expect(repeat.status).toBe(200);
    expect(await repeat.lines()).toEqual(lines);
    expect(agent.turns).toBe(1);
  });

  test("clientMessageId and Idempotency-Key are one", async () => {
    const { post, agent } = await startService();
    const first = await post("/v1/messages", { ...said, clientMessageId: "m1" }, { headers: bearer });
    (await agent.turn()).finish();
    const lines = await first.lines();
    const again = await post("/v1/messages", said, { headers: { ...bearer, "idempotency-key": "m1" } });
    expect(await again.lines()).toEqual(lines);
  });

  test.each([
    ["an empty id", { ...said, clientMessageId: "" }, {}],
    ["an id of 129 characters", { ...said, clientMessageId: "m".repeat(129) }, {}],
    ["an id with a control character", { ...said, clientMessageId: "m\u0007" }, {}],
    ["an id that is no text", { ...said, clientMessageId: 7 }, {}],
    ["a header of other characters", said, { "idempotency-key": "M\u00fcller" }],
    ["a header of 129 characters", said, { "idempotency-key": "m".repeat(129) }],
    ["both, and different", { ...said, clientMessageId: "m1" }, { "idempotency-key": "m2" }],
  ])("%s is refused, and no model is called", async (_, body, headers) => {
    const { post, agent, store } = await startService();
    const got = await post("/v1/messages", body, { headers: { ...bearer, ...headers } });
    expect(got.status).toBe(422);
    expect(agent.turns).toBe(0);
    expect(await store.findUser("cli", "ada")).toBeNull();
  });

  test("the same id with another text is refused on both APIs", async () => {
    const { post, ask, agent, newToken, newThread } = await startService();
    await post("/v1/messages", { ...said, clientMessageId: "m1" }, { headers: bearer });
    const other = { ...said, text: "Good bye", clientMessageId: "m1", displayName: "Ada" };
    expect((await post("/v1/messages", other, { headers: bearer })).status).toBe(422);
    (await agent.turn()).finish();

    const token = await newToken();
    const headers = { origin: ORIGIN, "x-visitor-token": token };
    const threadId = await newThread(token);
    const message = { threadId, text: "Hello", clientMessageId: "m1" };
    const first = await post("/v1/widget/messages", message, { headers });
    (await agent.turn()).finish();
    const lines = await first.lines();
    const elsewhere = { ...message, page: "/other", customerContext: { plan: "pro" } };
    expect(await (await post("/v1/widget/messages", elsewhere, { headers })).lines()).toEqual(lines);
    const changed = { ...message, text: "Good bye" };
    expect((await post("/v1/widget/messages", changed, { headers })).status).toBe(422);

    const history = await ask({ path: `/v1/widget/threads/${threadId}/messages`, headers });
    expect(JSON.parse(await history.text())).toMatchObject({
      items: [{ role: "user", clientMessageId: "m1" }, { role: "assistant" }],
    });
    expect(agent.turns).toBe(2);
  });
});
