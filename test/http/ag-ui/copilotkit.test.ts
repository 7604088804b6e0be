// For src/http/ag-ui/
import { expect, test, vi } from "vitest";
import { pageCall } from "../../threads/scripted-agent.ts";
import { startOperated } from "../operator-api/operators-service.ts";
import { ORIGIN, shop } from "../service.ts";

const KIT = "/v1/widget/copilotkit";

async function open(env: Record<string, string> = {}) {
  const service = await startOperated(env);
  const handoff = { enabled: true, message: "A person comes.", waitSeconds: 60 };
  await service.store.putChannel({ ...shop, agent: { images: true }, handoff });
  await service.renew();
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const headers = { origin: ORIGIN, "x-visitor-token": token };
  let runs = 0;
  const post = (path: string, body: object, more: Record<string, string> = {}) =>
    service.post(`${KIT}/agent/default/${path}`, body, { headers: { ...headers, ...more } });
  return {
    ...service,
    threadId,
    headers,
    info: (more: Record<string, string> = {}) =>
      service.ask({ path: `${KIT}/info`, headers: { ...headers, ...more } }),
    run: (...messages: object[]) => post("run", { threadId, runId: `r${++runs}`, messages }),
    connect: (more: Record<string, string> = {}) =>
      post("connect", { threadId, runId: "c", messages: [], tools: [], context: [] }, more),
    stop: (more: Record<string, string> = {}) => post(`stop/${threadId}`, { runId: "r1" }, more),
    act: (act: string, body: object) =>
      service.as("agent", "POST", `/channels/shop/threads/${threadId}/${act}`, body),
  };
}

const user = (id: string, content: unknown) => ({ id, role: "user", content });
const events = (text: string) =>
  text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => JSON.parse(event.slice("data: ".length)) as Record<string, unknown>);

test("it says what there is: one agent, and no runtime of its own behind it", async () => {
  const { info } = await open();
  const got = await info();
  expect([got.status, await got.json()]).toEqual([
    200,
    {
      version: expect.any(String),
      agents: { default: { name: "default", description: "Chat Agent Service", className: "HttpAgent" } },
      audioFileTranscriptionEnabled: false,
      mode: "sse",
    },
  ]);
});

test("a thread that is shown: what was said with its steps, images and people, then an end", async () => {
  const { agent, threadId, ...at } = await open();
  const empty = events(await (await at.connect()).text());
  expect(empty).toEqual([
    { type: "RUN_STARTED", threadId, runId: "c", protocolVersion: "1.0" },
    { type: "MESSAGES_SNAPSHOT", messages: [] },
    { type: "RUN_FINISHED", threadId, runId: "c" },
  ]);
  const url = "https://cdn.example/a.png";
  const data = "iVBORw0KGgoAAAANSUhEUg==";
  const source = { type: "data", value: data, mimeType: "image/png" };
  const images = [
    { type: "image", source: { type: "url", value: url } },
    { type: "image", source },
  ];
  const asked = await at.run(user("m1", [{ type: "text", text: 'Fill my "cart"' }, ...images]));
  (await agent.turn()).call(pageCall("call-1"));
  await asked.text();
  const answered = await at.run({ id: "t", role: "tool", toolCallId: "call-1", content: "Added" });
  const turn = await agent.turn();
  turn.write("It is full.\n");
  turn.finish();
  await answered.text();
  await at.act("take", { epoch: 0 });
  await at.act("messages", { text: "Hi", epoch: 1, clientMessageId: "k" });
  const told = events(await (await at.connect()).text());
  const runId = String(asked.headers["x-run-id"]);
  expect(told).toEqual([
    { type: "RUN_STARTED", threadId, runId: "c", protocolVersion: "1.0" },
    {
      type: "MESSAGES_SNAPSHOT",
      messages: [
        user("m1", [...images, { type: "text", text: 'Fill my "cart"' }]),
        {
          id: `${runId}/cart`,
          role: "activity",
          activityType: "step",
          content: expect.objectContaining({ id: "cart", phase: "done" }),
        },
        { id: runId, role: "assistant", content: "It is full.\n" },
        { id: "3", role: "assistant", name: "agent", metadata: { author: "person" }, content: "Hi" },
      ],
    },
    { type: "RUN_FINISHED", threadId, runId: "c" },
  ]);
});

test("a reply in progress follows what was said before it, and is in there once", async () => {
  const { agent, ...at } = await open();
  const before = await at.run(user("m1", "Hello"));
  (await agent.turn()).finish();
  await before.text();
  await at.run(user("m2", "And now?"));
  const turn = await agent.turn();
  await turn.writeAndWait("One ");
  const connected = await at.connect();
  turn.write("two");
  turn.finish();
  const told = events(await connected.text());
  const [, snapshot] = told as { messages?: { id: string }[] }[];
  expect(snapshot?.messages?.map(({ id }) => id)).toEqual(["m1", before.headers["x-run-id"], "m2"]);
  const texts = told.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
  expect(texts.map(({ delta }) => delta).join("")).toBe("One two");
  expect(texts[0]?.["messageId"]).toBe(connected.headers["x-run-id"]);
  expect(told.at(-1)).toMatchObject({ type: "RUN_FINISHED", runId: "c" });
});

test("a reply that ends while the history is read is told once all the same", async () => {
  const { agent, store, ...at } = await open();
  await at.run(user("m1", "Hello"));
  const turn = await agent.turn();
  await turn.writeAndWait("One ");
  const read = store.history.bind(store);
  vi.spyOn(store, "history").mockImplementationOnce(async (uid, page) => {
    turn.write("two");
    turn.finish();
    await expect.poll(() => read(uid, page)).toHaveLength(2);
    return read(uid, page);
  });
  const told = events(await (await at.connect()).text());
  expect(told.find(({ type }) => type === "MESSAGES_SNAPSHOT")).toEqual({
    type: "MESSAGES_SNAPSHOT",
    messages: [user("m1", "Hello")],
  });
  const texts = told.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
  expect(texts.map(({ delta }) => delta).join("")).toBe("One two");
});

test("a call that is pending is the end of what is told, and stopping ends it", async () => {
  const { agent, ...at } = await open();
  const asked = await at.run(user("m1", "Fill my cart"));
  (await agent.turn()).call(pageCall("call-1"));
  await asked.text();
  expect(events(await (await at.connect()).text()).slice(-2)).toMatchObject([
    { type: "TOOL_CALL_END", toolCallId: "call-1" },
    { type: "RUN_FINISHED" },
  ]);
  expect((await at.stop()).status).toBe(204);
  expect((await at.stop()).status).toBe(204);
  expect((await at.run({ id: "t", role: "tool", toolCallId: "call-1", content: "x" })).status).toBe(409);
  expect(events(await (await at.connect()).text()).map(({ type }) => type)).not.toContain("TOOL_CALL_START");
});

test("who may not, and too often, is refused at each of the four", async () => {
  const { newToken, ...at } = await open({ WIDGET_READS_PER_MINUTE: "3", WIDGET_MESSAGES_PER_MINUTE: "1" });
  const nobody = { "x-visitor-token": "vt_shop_x" };
  const evil = { origin: "https://evil.example" };
  for (const asked of [at.info, at.connect, at.stop]) {
    expect((await asked(nobody)).status).toBe(401);
    expect((await asked(evil)).status).toBe(403);
  }
  const other = { "x-visitor-token": await newToken() };
  expect((await at.connect(other)).status).toBe(404);
  expect((await at.stop(other)).status).toBe(404);
  for (let asked = 0; asked < 3; asked++) expect((await at.connect()).status).toBe(200);
  expect((await at.connect()).status).toBe(429);
  expect((await at.info()).status).toBe(429);
  expect((await at.run(user("m1", "Hi"))).status).toBe(200);
  expect((await at.run(user("m2", "Hi"))).status).toBe(429);
});

test("a long history is told whole, however its pieces fall", async () => {
  const { agent, ...at } = await open({ WIDGET_MAX_TEXT_CHARS: "60000" });
  const long = "ä€😀".repeat(14_000);
  for (const id of ["m1", "m2"]) {
    const asked = await at.run(user(id, long.slice(0, 58_000)));
    expect(asked.status).toBe(200);
    const turn = await agent.turn();
    turn.write(long);
    turn.finish();
    await asked.text();
  }
  await at.run(user("m3", "And now?"));
  const turn = await agent.turn();
  const connected = await at.connect();
  turn.write("Now.");
  turn.finish();
  const [, snapshot] = events(await connected.text()) as { messages?: { content: string }[] }[];
  expect(snapshot?.messages?.map(({ content }) => content)).toEqual([
    long.slice(0, 58_000),
    long,
    long.slice(0, 58_000),
    long,
    "And now?",
  ]);
});
