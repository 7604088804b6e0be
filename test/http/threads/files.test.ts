// For src/http/widget-api/files.ts, src/http/server-api/files.ts, src/http/files/, src/threads/say/files.ts
import { expect, test } from "vitest";
import { TINY_PNG } from "../../support/images.ts";
import { ORIGIN, shop, startService, TRANSPORT_KEY } from "../service.ts";

const bearer = { authorization: `Bearer ${TRANSPORT_KEY}` };
const png = Buffer.from(TINY_PNG.slice(TINY_PNG.indexOf(",") + 1), "base64");

async function open(env: Record<string, string> = {}) {
  const service = await startService(env);
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  const path = `/v1/widget/threads/${threadId}`;
  const send = (bytes: Buffer | string, { query = "name=a.txt", ...more }: Record<string, string> = {}) =>
    service.ask({
      method: "POST",
      path: `${path}/files`,
      query,
      headers: { ...headers, "content-type": "application/octet-stream", ...more },
      body: bytes,
    });
  return {
    ...service,
    headers,
    path,
    send,
    sent: async (bytes: Buffer | string, query?: string) => {
      const got = await send(bytes, query === undefined ? {} : { query });
      expect(got.status).toBe(201);
      return (await got.json()) as { id: string; name: string; type: string; bytes: number };
    },
    say: (fields: object) =>
      service.post("/v1/widget/messages", { threadId, text: "What does it say?", ...fields }, { headers }),
    fetch: (id: string) => service.ask({ method: "GET", path: `${path}/files/${id}`, headers }),
    history: async () => {
      const got = await service.ask({ method: "GET", path: `${path}/messages`, headers });
      return ((await got.json()) as { items: Record<string, unknown>[] }).items;
    },
  };
}

test("a visitor's file is sent, named by a message, told to the model, and in the history", async () => {
  const { sent, say, fetch, history, agent } = await open();
  const note = await sent("Delivery takes two days", "name=..%2Frules.txt");
  expect(note).toEqual({
    id: expect.any(String) as string,
    name: "rules.txt",
    type: "text/plain",
    bytes: 23,
  });
  const picture = await sent(png, "name=dot.txt");
  expect(picture).toMatchObject({ type: "image/png", bytes: png.length });
  expect((await fetch(note.id)).status).toBe(404);

  const stream = await say({ files: [note.id, picture.id] });
  const turn = await agent.turn();
  expect(turn.turn.files).toEqual([note, picture]);
  expect([...(turn.turn.toldFiles ?? [])]).toEqual([
    [note.id, { text: "Delivery takes two days" }],
    [picture.id, { url: TINY_PNG }],
  ]);
  turn.finish();
  await stream.lines();
  expect((await history())[0]).toMatchObject({ role: "user", files: [note, picture] });

  const got = await fetch(note.id);
  expect([got.status, got.headers["content-type"], got.headers["content-disposition"]]).toEqual([
    200,
    "text/plain; charset=utf-8",
    "attachment; filename*=UTF-8''rules.txt",
  ]);
  expect(await got.text()).toBe("Delivery takes two days");

  // The model reads it with later messages, too, and a later message may name it again.
  const second = await say({ text: "And in winter?", files: [note.id] });
  const later = await agent.turn();
  expect(later.turn.toldFiles?.get(note.id)).toEqual({ text: "Delivery takes two days" });
  later.finish();
  await second.lines();
});

test("a form brings a file with its name, and a message may be files alone", async () => {
  const { ask, path, headers, say, agent } = await open();
  const form = new FormData();
  form.set("file", new File(["a,b\n1,2\n"], "prices.csv", { type: "application/pdf" }));
  const encoded = new Response(form);
  const got = await ask({
    method: "POST",
    path: `${path}/files`,
    headers: { ...headers, "content-type": encoded.headers.get("content-type") ?? "" },
    body: Buffer.from(await encoded.arrayBuffer()),
  });
  expect(got.status).toBe(201);
  const file = (await got.json()) as { id: string };
  expect(file).toMatchObject({ name: "prices.csv", type: "text/csv", bytes: 8 });
  const stream = await say({ text: "", files: [file.id] });
  expect(stream.status).toBe(200);
  (await agent.turn()).finish();
  await stream.lines();
});

test("what is no such file is refused, and costs no model call", async () => {
  const { send, sent, say, agent, store, renew, fetch, newToken, newThread, ask } = await open({
    FILES_MAX_BYTES: "1000",
  });
  for (const bytes of [
    "",
    "MZ\u0000\u0001",
    Buffer.from("PK\u0003\u0004 a zip of something"),
    Buffer.from([0xc3, 0x28]),
  ])
    expect((await send(bytes)).status).toBe(422);
  expect((await send("x".repeat(1_001))).status).toBe(413);
  expect((await send("x", { "content-type": "multipart/form-data; boundary=none" })).status).toBe(422);
  expect((await send("x", { "content-encoding": "gzip" })).status).toBe(415);
  expect((await send("x", { "x-visitor-token": "vt_nobody" })).status).toBe(401);
  expect((await say({ files: ["nosuchfile"] })).status).toBe(422);
  expect((await say({ files: ["../x"] })).status).toBe(422);
  expect((await fetch("nosuchfile")).status).toBe(404);

  // Another visitor's file is none.
  const mine = await sent("Mine");
  const token = await newToken();
  const other = await newThread(token);
  const theirs = { origin: ORIGIN, "x-visitor-token": token };
  const got = await ask({
    method: "POST",
    path: "/v1/widget/messages",
    headers: { ...theirs, "content-type": "application/json" },
    body: JSON.stringify({ threadId: other, text: "Read it", files: [mine.id] }),
  });
  expect(got.status).toBe(422);

  await store.putChannel({ ...shop, agent: { files: false } });
  await renew();
  expect((await send("x")).status).toBe(422);
  expect(agent.turns).toBe(0);
});

test("a transport sends a file for its user, before the thread has a message", async () => {
  const { ask, post, agent } = await startService();
  const query = "userId=ada&name=note.md";
  const path = "/v1/threads/t1/files";
  const got = await ask({ method: "POST", path, query, headers: bearer, body: "# Rules\nTwo days" });
  expect(got.status).toBe(201);
  const file = (await got.json()) as { id: string };
  expect(file).toMatchObject({ name: "note.md", type: "text/markdown" });
  const stream = await post(
    "/v1/messages",
    { threadId: "t1", userId: "ada", text: "How long?", files: [file.id] },
    { headers: bearer },
  );
  const turn = await agent.turn();
  expect(turn.turn.toldFiles?.get(file.id)?.text).toContain("Two days");
  turn.finish();
  await stream.text();
  const fetched = await ask({
    method: "GET",
    path: `${path}/${file.id}`,
    query: "userId=ada",
    headers: bearer,
  });
  expect(await fetched.text()).toBe("# Rules\nTwo days");
  expect((await ask({ method: "POST", path, headers: bearer, body: "x" })).status).toBe(422);
});

test("a visitor sends so many files an hour, and a file is gone with its thread", async () => {
  const { send, sent, say, fetch, agent, post, path, headers } = await open({ WIDGET_FILES_PER_HOUR: "2" });
  const first = await sent("1");
  await sent("2");
  const third = await send("3");
  expect([third.status, Number(third.headers["retry-after"]) > 60]).toEqual([429, true]);
  const stream = await say({ files: [first.id] });
  (await agent.turn()).finish();
  await stream.lines();
  expect((await fetch(first.id)).status).toBe(200);
  expect((await post(`${path}/delete`, "", { headers })).status).toBe(204);
  expect((await fetch(first.id)).status).toBe(404);
});

test("a message that replaces another brings its files along, and a reply is made anew with them", async () => {
  const { sent, say, agent, path, post, headers, history } = await open();
  const { id } = await sent("Two days");
  const first = await say({ files: [id] });
  (await agent.turn()).finish();
  await first.lines();
  const anew = await post(`${path}/regenerate`, { messageId: "2" }, { headers });
  const again = await agent.turn();
  expect(again.turn.files).toMatchObject([{ id }]);
  expect(again.turn.toldFiles?.get(id)).toEqual({ text: "Two days" });
  again.finish();
  await anew.lines();
  const edited = await say({ text: "In a word?", replaces: "1", files: [id] });
  const turn = await agent.turn();
  expect([turn.turn.before, turn.turn.toldFiles?.get(id)]).toEqual([[], { text: "Two days" }]);
  turn.finish();
  await edited.lines();
  expect((await history())[0]).toMatchObject({ content: "In a word?", files: [{ id }] });
});
