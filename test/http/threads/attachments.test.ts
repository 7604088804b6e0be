// For src/http/files/image-url.ts, src/http/widget-api/, src/domain/threads/image-dimensions.ts, src/threads/say/
import { expect, test } from "vitest";
import { imageOf, TINY_PNG } from "../../support/images.ts";
import { ORIGIN, shop, startService, TRANSPORT_KEY } from "../service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };
const address = "https://cdn.example/shoe.jpg";
const jpeg = imageOf("jpeg", 3_000);

async function open(images: boolean | null = true) {
  const service = await startService({ WIDGET_MAX_BODY_BYTES: "20000" });
  await service.store.putChannel({ ...shop, agent: images === null ? {} : { images } });
  await service.renew();
  const server = (fields: object, threadId = "t") => {
    const said = { threadId, userId: "ada", channel: "shop", text: "What is this?", ...fields };
    return service.post("/v1/messages", said, { headers: bearer });
  };
  const history = async (threadId = "t", page = "") => {
    const query = `userId=ada&channel=shop${page}`;
    const asked = { method: "GET", path: `/v1/threads/${threadId}/messages`, query, headers: bearer };
    return ((await (await service.ask(asked)).json()) as { items: Record<string, unknown>[] }).items;
  };
  const widget = async () => {
    const token = await service.newToken();
    const threadId = await service.newThread(token);
    const headers = { origin: ORIGIN, "x-visitor-token": token };
    return {
      send: (fields: object) =>
        service.post("/v1/widget/messages", { threadId, text: "What is this?", ...fields }, { headers }),
      history: async () => {
        const got = await service.ask({ path: `/v1/widget/threads/${threadId}/messages`, headers });
        return ((await got.json()) as { items: Record<string, unknown>[] }).items;
      },
    };
  };
  return { ...service, server, history, widget };
}

test("images come to the agent, and stay in the history of both APIs as they came", async () => {
  const { server, history, agent, widget } = await open();
  const attachments = [{ url: TINY_PNG, name: "dot.png" }, { url: address }, { url: jpeg }];
  const got = await server({ attachments });
  expect(got.status).toBe(200);
  const first = await agent.turn();
  expect(first.turn.images?.get(first.turn.run.runId)).toEqual([TINY_PNG, jpeg]);
  expect(first.turn.attachments).toMatchObject([
    { name: "dot.png", type: "image/png", chars: TINY_PNG.length },
    { url: address },
    { type: "image/jpeg" },
  ]);
  first.finish();
  await got.lines();
  expect((await history())[0]).toMatchObject({ content: "What is this?", attachments });

  const visitor = await widget();
  const sent = await visitor.send({ attachments: [{ url: jpeg, name: "shoe" }] });
  expect(sent.status).toBe(200);
  (await agent.turn()).finish();
  await sent.lines();
  const [question, reply] = await visitor.history();
  expect(question).toMatchObject({ role: "user", attachments: [{ url: jpeg, name: "shoe" }] });
  expect(reply).not.toHaveProperty("attachments");
});

test("a thread's record does not hold the images of its messages", async () => {
  const { server, agent, store } = await open();
  const got = await server({ attachments: [{ url: jpeg }] });
  (await agent.turn()).finish();
  await got.lines();
  const [user] = await store.users("shop");
  const [thread] = await store.threads("shop", user?.userId ?? "");
  const record = await store.load(thread?.uid ?? "", 100_000);
  expect(JSON.stringify(record)).not.toContain("base64");
  expect(record?.tail[0]?.attachments).toEqual([{ type: "image/jpeg", chars: jpeg.length }]);
});

test.each<[string, unknown]>([
  ["five images", Array.from({ length: 5 }, () => ({ url: TINY_PNG }))],
  ["an address of plain HTTP", [{ url: "http://cdn.example/a.png" }]],
  ["bytes of another type", [{ url: TINY_PNG.replace("image/png", "image/gif") }]],
  ["no url", [{ name: "a.png" }]],
  ["a name with a line end", [{ url: TINY_PNG, name: "a\nb" }]],
  ["no list", { url: TINY_PNG }],
])("%s is refused on both APIs with 422, and nothing is kept", async (_what, attachments) => {
  const { server, widget, store } = await open();
  expect((await server({ attachments })).status).toBe(422);
  const visitor = await widget();
  expect((await visitor.send({ attachments })).status).toBe(422);
  expect(await visitor.history()).toEqual([]);
  expect(await store.findUser("shop", "ada")).toBeNull();
});

test.each([null, false])("a channel whose agent.images is %s takes none, and says so", async (images) => {
  const { server, widget, agent } = await open(images);
  const refused = await server({ attachments: [{ url: TINY_PNG }] });
  expect(refused.status).toBe(422);
  expect(await refused.text()).toContain("agent.images");
  expect((await (await widget()).send({ attachments: [{ url: TINY_PNG }] })).status).toBe(422);
  const got = await server({ attachments: [] });
  expect(got.status).toBe(200);
  expect((await agent.turn()).turn).not.toHaveProperty("attachments");
});

test("images for an unknown channel are 404, as every message for it", async () => {
  const { server } = await open();
  const refused = await server({ channel: "nope", attachments: [{ url: TINY_PNG }] });
  expect([refused.status, await refused.text()]).toEqual([404, "Unknown channel"]);
});

test("the text stays required, and all images together are within the body's limit", async () => {
  const { server, widget } = await open();
  expect((await server({ text: "", attachments: [{ url: TINY_PNG }] })).status).toBe(422);
  const visitor = await widget();
  const long = imageOf("png", 5_000);
  expect((await visitor.send({ attachments: [{ url: long }, { url: long }, { url: long }] })).status).toBe(
    413,
  );
});

test("a repeat is known by its text alone: its own images say nothing", async () => {
  const { server, history, agent } = await open();
  const once = { clientMessageId: "m1" };
  const got = await server({ ...once, attachments: [{ url: jpeg }] });
  (await agent.turn()).finish();
  await got.lines();
  const again = await server({ ...once, attachments: [{ url: TINY_PNG }] });
  expect(again.status).toBe(200);
  await again.lines();
  expect(await history()).toMatchObject([{ attachments: [{ url: jpeg }] }, { role: "assistant" }]);
  expect((await server({ ...once, text: "Another", attachments: [{ url: TINY_PNG }] })).status).toBe(422);
  expect(agent.turns).toBe(1);
});

test("the next message comes with the images before it, and with none that are long past", async () => {
  const { server, agent } = await open();
  const say = async (fields: object) => {
    const got = await server(fields);
    const { turn, finish } = await turnOf(agent);
    finish();
    await got.lines();
    return [...(turn.images?.values() ?? [])];
  };
  const two = { attachments: [{ url: TINY_PNG }, { url: jpeg }] };
  expect(await say(two)).toEqual([[TINY_PNG, jpeg]]);
  expect(await say({})).toEqual([[TINY_PNG, jpeg]]);
  for (let n = 0; n < 3; n++) await say(two);
  expect(await say({})).toHaveLength(4);
  expect(await say(two)).toHaveLength(4);
});

async function turnOf(agent: Awaited<ReturnType<typeof open>>["agent"]) {
  const played = await agent.turn();
  return { turn: played.turn, finish: () => played.finish() };
}

test("a page of the history ends where its images are too many, and the page before it has the rest", async () => {
  const { server, history, agent } = await open();
  const large = imageOf("jpeg", 700_000);
  for (let nth = 0; nth < 5; nth++) {
    const got = await server({ attachments: [{ url: large }] });
    expect(got.status).toBe(200);
    (await agent.turn()).finish();
    await got.lines();
  }
  const idsOf = (items: Record<string, unknown>[]) => items.map(({ id }) => id);
  const last = await history("t", "&limit=100");
  expect(idsOf(last)).toEqual(["2", "3", "4", "5", "6", "7", "8", "9", "10"]);
  expect(last.at(-2)).toMatchObject({ attachments: [{ url: large }] });
  const [first, ...others] = await history("t", "&limit=100&before=2");
  expect(first).toMatchObject({ id: "1", attachments: [{ url: large }] });
  expect(others).toEqual([]);
});

test("G4: a channel with imageAddresses false takes data: URLs alone, on both APIs", async () => {
  const { server, widget, agent, store, renew } = await open();
  await store.putChannel({ ...shop, agent: { images: true, imageAddresses: false } });
  await renew();
  const visitor = await widget();
  const told = await server({ attachments: [{ url: address }] });
  expect(await told.text()).toContain("its agent.imageAddresses is false");
  for (const send of [server, visitor.send]) {
    for (const attachments of [[{ url: address }], [{ url: TINY_PNG }, { url: address }]])
      expect((await send({ attachments })).status).toBe(422);
    const got = await send({ attachments: [{ url: TINY_PNG }] });
    expect(got.status).toBe(200);
    (await agent.turn()).finish();
  }
});

test("G4: a private address is 422 on both APIs, and costs no turn", async () => {
  const { server, widget, agent } = await open();
  const visitor = await widget();
  for (const send of [server, visitor.send]) {
    const got = await send({ attachments: [{ url: "https://169.254.169.254/latest/meta-data/" }] });
    expect(got.status).toBe(422);
  }
  expect(agent.turns).toBe(0);
});
