// For src/http/server-api/messages.ts, src/http/widget-api/messages.ts, src/http/history-page.ts
import { expect, test } from "vitest";
import { startService, TRANSPORT_KEY } from "../service.ts";

async function open() {
  const service = await startService();
  const headers = { authorization: `Bearer ${TRANSPORT_KEY}` };
  const owner = { userId: "ada" };
  const read = async (branches = "") => {
    const query = `userId=ada&limit=99${branches}`;
    const got = await service.ask({ path: "/v1/threads/t1/messages", query, headers });
    return ((await got.json()) as { items: Record<string, unknown>[] }).items;
  };
  return {
    ...service,
    say: (body: object) => service.post("/v1/messages", { threadId: "t1", ...owner, ...body }, { headers }),
    again: (messageId: string) =>
      service.post("/v1/threads/t1/regenerate", { ...owner, messageId }, { headers }),
    read,
    reply: async (text: string) => {
      const turn = await service.agent.turn();
      turn.write(text);
      turn.finish();
      return turn.turn;
    },
  };
}

test("a message that replaces another begins a branch, a reply can be made anew, and all branches can be read", async () => {
  const { say, again, read, reply } = await open();
  for (const [text, answer] of [
    ["Hello", "Hi"],
    ["A red mug", "18 euros"],
  ] as const) {
    const stream = say({ text });
    await reply(answer);
    await (await stream).text();
  }
  const other = say({ text: "A blue mug", replaces: "3" });
  const told = await reply("20 euros");
  expect([told.text, told.before.map(({ content }) => content)]).toEqual(["A blue mug", ["Hello", "Hi"]]);
  expect(await (await other).text()).toContain("20 euros");
  const anew = again("6");
  await reply("21 euros");
  const stream = await anew;
  expect([stream.status, stream.headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
  expect(await stream.text()).toContain("21 euros");
  const short = (items: Record<string, unknown>[]) =>
    items.map(({ id, replaces, otherBranch }) => [id, replaces, otherBranch]);
  expect(short(await read())).toEqual([
    ["1", undefined, undefined],
    ["2", undefined, undefined],
    ["5", "3", undefined],
    ["7", "6", undefined],
  ]);
  expect(short(await read("&branches=1"))).toEqual([
    ["1", undefined, undefined],
    ["2", undefined, undefined],
    ["3", undefined, true],
    ["4", undefined, true],
    ["5", "3", undefined],
    ["6", undefined, true],
    ["7", "6", undefined],
  ]);
});

test("what is no item of the thread begins nothing, and costs no model call", async () => {
  const service = await open();
  const { say, again, agent, reply } = service;
  const stream = say({ text: "Hello" });
  await reply("Hi");
  await (await stream).text();
  for (const replaces of ["2", "3", "x", "0"]) expect((await say({ text: "Hm", replaces })).status).toBe(404);
  for (const id of ["1", "3", "x"]) expect((await again(id)).status).toBe(404);
  expect((await say({ text: "Hm", replaces: 1 })).status).toBe(422);
  const headers = { authorization: "Bearer nobody" };
  expect(
    (await service.post("/v1/threads/t1/regenerate", { userId: "ada", messageId: "2" }, { headers })).status,
  ).toBe(401);
  expect(agent.turns).toBe(1);
});
