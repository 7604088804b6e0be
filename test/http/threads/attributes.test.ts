// For src/http/server-api/, src/domain/people/attributes.ts
import { expect, test } from "vitest";
import { ORIGIN, SECRET_KEY, TRANSPORT_KEY, startService } from "../service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };

async function open() {
  const service = await startService();
  const { post, agent } = service;
  /** What a run is told of who speaks. */
  async function toldTo(path: string, said: object, headers: Record<string, string>) {
    const got = await post(path, { threadId: "t", text: "Hi", ...said }, { headers });
    expect(got.status).toBe(200);
    const thinking = await agent.turn();
    thinking.finish();
    await got.lines();
    return thinking.turn.run.speaker.attributes;
  }
  return {
    ...service,
    toldToServer: (fields: object) =>
      toldTo("/v1/messages", { userId: "ada", channel: "shop", ...fields }, bearer),
    toldToWidget: async (token: string, threadId: string) =>
      toldTo("/v1/widget/messages", { threadId }, { origin: ORIGIN, "x-visitor-token": token }),
    identify: (visitorToken: string, fields: object = {}) =>
      post(
        "/v1/channels/shop/identify",
        { visitorToken, externalUserId: "ada", ...fields },
        { headers: { authorization: `Bearer ${SECRET_KEY}` } },
      ),
  };
}

test("a backend's attributes stay with the user, and a later map replaces the whole one", async () => {
  const { toldToServer } = await open();
  expect(await toldToServer({})).toBeUndefined();
  expect(await toldToServer({ attributes: { plan: "pro", seats: 3 } })).toEqual({ plan: "pro", seats: 3 });
  expect(await toldToServer({ threadId: "other" })).toEqual({ plan: "pro", seats: 3 });
  expect(await toldToServer({ attributes: { trial: false } })).toEqual({ trial: false });
  expect(await toldToServer({ userId: "kim" })).toBeUndefined();
  expect(await toldToServer({ attributes: {} })).toBeUndefined();
  expect(await toldToServer({})).toBeUndefined();
});

test("attributes of identify are the account's, whoever becomes it, and are told on the widget too", async () => {
  const { newToken, newThread, identify, toldToWidget, toldToServer } = await open();
  const first = await newToken();
  const threadId = await newThread(first);
  expect(await toldToWidget(first, threadId)).toBeUndefined();
  expect((await identify(first, { attributes: { plan: "pro" } })).status).toBe(200);
  expect(await toldToWidget(first, threadId)).toEqual({ plan: "pro" });
  expect(await toldToServer({})).toEqual({ plan: "pro" });

  const second = await newToken();
  expect(await (await identify(second)).json()).toMatchObject({ merged: true });
  expect(await toldToWidget(second, threadId)).toEqual({ plan: "pro" });
  // A repeat binds nothing anew, and tells what is known by now.
  expect((await identify(second, { attributes: { plan: "free" } })).status).toBe(200);
  expect(await toldToWidget(first, threadId)).toEqual({ plan: "free" });
  const third = await newToken();
  expect((await identify(third, { attributes: { seats: 2 } })).status).toBe(200);
  expect(await toldToWidget(first, threadId)).toEqual({ seats: 2 });
});

test("identify refuses attributes that are too long before it binds anything", async () => {
  const { newToken, identify, store } = await open();
  const token = await newToken();
  expect((await identify(token, { attributes: { a: "x".repeat(3_993) } })).status).toBe(422);
  expect(await store.findUser("shop", "ada")).toBeNull();
  expect((await identify(token, { attributes: { a: "x".repeat(3_992) } })).status).toBe(200);
});
