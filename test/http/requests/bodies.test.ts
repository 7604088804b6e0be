// For src/http/body.ts, src/http/fields.ts, src/http/leave-out-nulls.ts, src/bounded-body.ts
import { describe, expect, test } from "vitest";
import { TINY_PNG } from "../../support/images.ts";
import { TRANSPORT_KEY, cli, startService } from "../service.ts";
import type { Service } from "../service.ts";
import { startOperated } from "../operator-api/operators-service.ts";

/** What a body may hold: its JSON, its letters and its sizes, to the last character (P20). */
const bearer = { headers: { authorization: `Bearer ${TRANSPORT_KEY}` } };
const manyUses = { WIDGET_MESSAGES_PER_MINUTE: "1000", WIDGET_IP_MESSAGES_PER_MINUTE: "1000" };

async function startVisitor() {
  const service = await startService(manyUses);
  const token = await service.newToken();
  const threadId = await service.newThread(token);
  const headers = { "x-visitor-token": token };
  const send = (what: string, body: object | string) =>
    service.post(
      `/v1/widget/${what}`,
      typeof body === "string" ? body.replace("THREAD", threadId) : { threadId, ...body },
      { headers },
    );
  return { ...service, send };
}

/** Sends, lets the run end, and tells the status and what the model was given. */
async function says(visitor: Awaited<ReturnType<typeof startVisitor>>, body: object | string) {
  const got = await visitor.send("messages", body);
  if (got.status !== 200) return { status: got.status, turn: null };
  const played = await visitor.agent.turn();
  played.finish();
  await got.lines();
  return { status: 200, turn: played.turn };
}

describe("JSON", () => {
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));
  const start = '{"threadId":"t","userId":"u","text":"';

  test.each<[string, string | Uint8Array]>([
    ["empty", ""],
    ["whitespace", " \n"],
    ["null", "null"],
    ["array", "[]"],
    ["string", '"x"'],
    ["number", "1"],
    ["truncated", '{"text":"a"'],
    ["trailing comma", `${start}x",}`],
    ["comment", `${start}x"/**/}`],
    ["single quotes", "{'text':'a'}"],
    ["NaN", '{"text":NaN}'],
    ["leading zeros", '{"text":"a","n":01}'],
    ["two documents", `${start}x"}${start}x"}`],
    ["a BOM and nothing else", bytes([0xef, 0xbb, 0xbf])],
    ["two BOMs", bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], `${start}x"}`)],
    ["UTF-16 with its BOM", bytes([0xff, 0xfe], [...Buffer.from(`${start}x"}`, "utf16le")])],
    ["overlong", bytes(start, [0xc0, 0xaf], '"}')],
    ["lone continuation", bytes(start, [0x80], '"}')],
    ["encoded surrogate", bytes(start, [0xed, 0xa0, 0x80], '"}')],
    ["cut sequence", bytes(start, [0xf0, 0x9f, 0x98], '"}')],
    ["infinity", '{"threadId":"t","userId":"u","text":"x","n":1e400}'],
    ["text a number", '{"threadId":"t","userId":"u","text":1}'],
    ["threadId an object", '{"threadId":{},"userId":"u","text":"x"}'],
    ["missing", '{"threadId":"t","userId":"u"}'],
    ["null for what is required", '{"threadId":"t","userId":"u","text":null}'],
    ["NUL in an id", '{"threadId":"t\\u0000","userId":"u","text":"x"}'],
    ["empty text", `${start}"}`],
    ["an id of 257", JSON.stringify({ threadId: "x".repeat(257), userId: "u", text: "x" })],
    ["an id of 257, in pairs", JSON.stringify({ threadId: `x${"😀".repeat(128)}`, userId: "u", text: "x" })],
    ["an empty id", '{"threadId":"t","userId":"","text":"x"}'],
    ["nested 60 000 deep", `{"threadId":${"[".repeat(60_000)}${"]".repeat(60_000)}}`],
  ])("%s: 422, and no model call (P13)", async (_row, body) => {
    const { post, agent } = await startService();
    const got = await post("/v1/messages", body, bearer);
    expect(got.status).toBe(422);
    expect(await got.text()).toMatch(/^[\x20-\x7e]{1,200}$/);
    expect(agent.turns).toBe(0);
  });

  test.each([
    ["the last of a doubled key", '{"threadId":"t","userId":"u","text":"a","text":"b"}', "b"],
    ["unknown fields", '{"threadId":"t","userId":"u","text":"b","more":{"x":1}}', "b"],
    ["an escaped key", '{"threadId":"t","userId":"u","\\u0074ext":"b"}', "b"],
    ["a lone surrogate is replaced", '{"threadId":"t","userId":"u","text":"a\\ud800b"}', "a\ufffdb"],
    ["in wrong order", '{"threadId":"t","userId":"u","text":"\\ude00\\ud83d"}', "\ufffd\ufffd"],
    ["a pair is none", '{"threadId":"t","userId":"u","text":"\\ud83d\\ude00"}', "😀"],
    ["an escaped backslash is no escape", '{"threadId":"t","userId":"u","text":"\\\\ud800"}', "\\ud800"],
    ["NUL in text", '{"threadId":"t","userId":"u","text":"a\\u0000b"}', "a\0b"],
    ["visible among what is not", `{"threadId":"t","userId":"u","text":"\u200b \u2800."}`, "\u200b \u2800."],
    ["a family, joined by what is not seen", `{"threadId":"t","userId":"u","text":"👩‍👩‍👦"}`, "👩‍👩‍👦"],
    ["an emoji with a variation selector", `{"threadId":"t","userId":"u","text":"❤️"}`, "❤️"],
    ["a visible format character", `{"threadId":"t","userId":"u","text":"\u0600"}`, "\u0600"],
    ["an id of any letters", '{"threadId":"{a}:*../ ","userId":"__proto__","text":"b"}', "b"],
    ["a prototype", '{"threadId":"t","userId":"u","text":"b","__proto__":{"polluted":1}}', "b"],
  ])("%s", async (_row, body, text) => {
    const { post, agent } = await startService();
    const got = await post("/v1/messages", body, bearer);
    expect(got.status).toBe(200);
    const played = await agent.turn();
    expect(played.turn.text).toBe(text);
    played.finish();
    await got.lines();
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("one threadId of two users, and of one user in two channels, is three threads", async () => {
    const { post, agent } = await startService();
    const talk = async (userId: string, channel: string) => {
      const got = await post("/v1/messages", { threadId: "t", userId, channel, text: "x" }, bearer);
      const played = await agent.turn();
      played.finish();
      await got.lines();
      return played.turn.before.length;
    };
    expect([await talk("a", "cli"), await talk("b", "cli"), await talk("a", "shop")]).toEqual([0, 0, 0]);
    expect(await talk("a", "cli")).toBe(2);
  });

  test("the server API takes bodies up to its own limit", async () => {
    const { post } = await startService();
    const got = await post(
      "/v1/messages",
      { threadId: "t", userId: "u", text: "x".repeat(1_048_577) },
      bearer,
    );
    expect([got.status, await got.text()]).toEqual([413, "Too large"]);
  });

  test("G20: a display name of 10 KB is taken, and its first 200 characters are stored, by either endpoint", async () => {
    const { post, store, agent } = await startService();
    const displayName = `${"é".repeat(199)}😀${"é".repeat(10_240)}`;
    const user = { channel: "cli", externalUserId: "u", displayName };
    expect((await post("/v1/access", user, bearer)).status).toBe(200);
    const said = { threadId: "t", userId: "w", text: "Hi", displayName };
    expect((await post("/v1/messages", said, bearer)).status).toBe(200);
    expect((await agent.turn()).turn.run.speaker.displayName).toBe("é".repeat(199));
    for (const id of ["u", "w"]) expect((await store.findUser("cli", id))?.displayName).toBe("é".repeat(199));
  });
});

describe("limits (P20)", () => {
  /** `count` UTF-16 units of each kind. */
  const forms: [string, (count: number) => string][] = [
    ["ASCII", (count) => "x".repeat(count)],
    ["two-byte", (count) => "é".repeat(count)],
    ["astral", (count) => "😀".repeat(Math.floor(count / 2)) + "x".repeat(count % 2)],
  ];
  const escaped = (text: string) =>
    [...Array(text.length).keys()]
      .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`)
      .join("");

  test.each(forms)("text of 2000 units passes and 2001 is 413: %s, plain and escaped", async (_form, of) => {
    const visitor = await startVisitor();
    for (const [count, status] of [
      [2000, 200],
      [2001, 413],
    ] as const) {
      expect((await says(visitor, { text: of(count) })).status).toBe(status);
      const body = `{"threadId":"THREAD","text":"${escaped(of(count))}"}`;
      expect((await says(visitor, body)).status).toBe(status);
    }
  });

  test.each(forms)("customerContext whose JSON is 2000 passes and 2001 is 413: %s", async (_form, of) => {
    const visitor = await startVisitor();
    const frame = JSON.stringify({ key: "" }).length;
    expect((await says(visitor, { text: "x", customerContext: { key: of(2000 - frame) } })).status).toBe(200);
    expect((await says(visitor, { text: "x", customerContext: { key: of(2001 - frame) } })).status).toBe(413);
  });

  test.each(forms)("page of 512 passes and 513 is 422: %s", async (_form, of) => {
    const visitor = await startVisitor();
    expect((await says(visitor, { text: "x", page: of(512) })).status).toBe(200);
    expect((await says(visitor, { text: "x", page: of(513) })).status).toBe(422);
  });

  test("a catalog of 20000 passes and 20001 is 413, measured without the fields that are dropped", async () => {
    const { send } = await startVisitor();
    const catalog = (description: string) => [{ name: "tool", description }];
    const frame = JSON.stringify(catalog("")).length;
    const fits = catalog("x".repeat(20_000 - frame)).map((tool) => ({
      ...tool,
      annotations: "y".repeat(9_000),
    }));
    expect((await send("tools", { webmcpTools: fits })).status).toBe(204);
    expect((await send("tools", { webmcpTools: catalog("x".repeat(20_001 - frame)) })).status).toBe(413);
    expect((await send("tools", { webmcpTools: [] })).status).toBe(204);
  });
});

describe("customerContext and catalog", () => {
  test.each<[string, string]>([
    ["nested object", '{"a":{}}'],
    ["array", '{"a":[]}'],
    ["null", '{"a":null}'],
    ["infinite", '{"a":1e400}'],
    ["infinite, in digits", `{"a":1${"0".repeat(310)}}`],
    ["deep", `{"a":${"[".repeat(10_000)}${"]".repeat(10_000)}}`],
    ["an array", "[]"],
  ])("%s as customerContext: 422", async (_row, context) => {
    const visitor = await startVisitor();
    const said = await says(visitor, `{"threadId":"THREAD","text":"x","customerContext":${context}}`);
    expect(said.status).toBe(422);
    expect(visitor.agent.turns).toBe(0);
  });

  test("A7: an empty customerContext, odd numbers and odd keys pass, and nothing is lost of them", async () => {
    const visitor = await startVisitor();
    expect(
      (await says(visitor, { text: "x", customerContext: {} })).turn?.run.speaker.customerContext,
    ).toEqual({});
    const odd = await says(
      visitor,
      '{"threadId":"THREAD","text":"x","customerContext":{"a":-0,"b":9007199254740993,"c":1e-400,"__proto__":"x","constructor":"y"}}',
    );
    expect(odd.turn?.run.speaker.customerContext).toEqual(
      JSON.parse('{"a":-0,"b":9007199254740992,"c":0,"__proto__":"x","constructor":"y"}'),
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("the page's language is told to the agent, for its message alone; what is none is 422", async () => {
    const visitor = await startVisitor();
    const first = await says(visitor, { text: "Grüezi", locale: "de-CH" });
    expect(first.turn?.run.speaker).toMatchObject({ locale: "de-CH" });
    expect((await says(visitor, { text: "x" })).turn?.run.speaker).not.toHaveProperty("locale");
    for (const locale of ["German, please", "", 7, "x".repeat(200)])
      expect((await says(visitor, { text: "x", locale })).status).toBe(422);
  });

  const deep = (depth: number) =>
    JSON.parse(`${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`) as object;
  test.each<[string, unknown, number]>([
    ["a string", "tools", 422],
    ["another type", [{ name: "a", inputSchema: { type: "array" } }], 422],
    ["properties an array", [{ name: "a", inputSchema: { type: "object", properties: [] } }], 422],
    ["required no strings", [{ name: "a", inputSchema: { type: "object", required: [1] } }], 422],
    [
      "1 000 required",
      [{ name: "a", inputSchema: { type: "object", required: Array(1_000).fill("a") } }],
      204,
    ],
    ["500 deep", [{ name: "a", inputSchema: { type: "object", properties: deep(500) } }], 204],
    ["2 200 keys", [{ name: "a", inputSchema: { type: "object", properties: keys(2_200) } }], 204],
    ["no name", [{ description: "a" }], 422],
    ["200 tools", Array.from({ length: 200 }, (_, at) => ({ name: `tool_${at}` })), 204],
  ])("%s as catalog: %#", async (_row, webmcpTools, status) => {
    const { send } = await startVisitor();
    expect((await send("tools", { webmcpTools })).status).toBe(status);
  });
});

describe("a catalog with tools that cannot be offered", () => {
  const nested = (brackets: number) => `${"[".repeat(brackets)}${"]".repeat(brackets)}`;
  const tool = (name: string, brackets: number) =>
    `{"name":${JSON.stringify(name)},"inputSchema":{"type":"object","properties":{"a":${nested(brackets)}}}}`;
  const catalog = (...tools: string[]) => `{"threadId":"THREAD","webmcpTools":[${tools.join(",")}]}`;

  test("is taken without them, and the answer names them", async () => {
    const { send } = await startVisitor();
    const got = await send("tools", catalog(tool("flat", 1), tool("deep, ü", 9_000), tool("flat", 1)));
    expect(got.status).toBe(204);
    expect(got.headers["x-dropped-tools"]).toBe("deep%2C%20%C3%BC, flat");
    expect(got.headers["access-control-expose-headers"]).toMatch(/, x-dropped-tools$/);
    const whole = await send("tools", catalog(tool("flat", 1)));
    expect(whole.headers).not.toHaveProperty("x-dropped-tools");
  });

  test("is too large by what is dropped, too", async () => {
    const { send } = await startVisitor();
    expect((await send("tools", catalog(tool("deep", 10_000)))).status).toBe(413);
    expect((await send("tools", catalog(tool("deep", 60_000)))).status).toBe(413);
  });

  test("names no more than its head can hold", async () => {
    const { send } = await startVisitor();
    const many = Array.from({ length: 160 }, (_, at) => ({ name: `${at} ${"ü".repeat(60)}` }));
    const got = await send("tools", { webmcpTools: many });
    expect(got.headers["x-dropped-tools"]?.split(", ")).toHaveLength(21);
    expect(got.headers["x-dropped-tools"]).toMatch(/^127%20(?:%C3%BC)+, .*, \+13$/);
  });
});

function keys(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [at, 1]));
}

describe("tool results", () => {
  const answered = (body: string) => `{"threadId":"THREAD","callId":"c","tool":"t",${body}}`;
  test.each([
    ["absent", '"page":"/"', 422],
    ["null", '"result":null', 409],
    ["false", '"result":false', 409],
    ["empty", '"result":""', 409],
    ["infinite", '"result":{"a":[1e400]}', 422],
    ["isError a string", '"result":1,"isError":"false"', 422],
    ["page of 513", `"result":1,"page":"${"x".repeat(513)}"`, 422],
    ["33 deep is taken", `"result":${"[".repeat(33)}${"]".repeat(33)}`, 409],
    ["2 000 deep is taken", `"result":${"[".repeat(2_000)}${"]".repeat(2_000)}`, 409],
    ["2 001 deep is refused", `"result":${"[".repeat(2_001)}1${"]".repeat(2_001)}`, 422],
    ["60 000 deep cannot be written down", `"result":${"[".repeat(60_000)}${"]".repeat(60_000)}`, 422],
    ["20 000 elements are taken", `"result":[${"1,".repeat(19_999)}1]`, 409],
    ["131 000 characters are taken", `"result":"${"x".repeat(130_900)}"`, 409],
  ])("%s", async (_row, body, status) => {
    const { send, agent } = await startVisitor();
    // Nothing is pending: 409 says that the body was taken.
    expect((await send("tool-results", answered(body))).status).toBe(status);
    expect(agent.turns).toBe(0);
  });
});

describe("history", () => {
  test.each([
    ["", 200],
    ["limit=1", 200],
    ["limit=100", 200],
    ["limit=0", 422],
    ["limit=101", 422],
    ["limit=", 422],
    ["limit=1.5", 422],
    ["limit=ten", 422],
    ["before=99", 200],
    ["other=1", 200],
  ])("?%s answers %i", async (query, status) => {
    const service: Service = await startService();
    const token = await service.newToken();
    const path = `/v1/widget/threads/${await service.newThread(token)}/messages`;
    const headers = { origin: "https://shop.example", "x-visitor-token": token };
    const got = await service.ask({ path, query, headers });
    expect(got.status).toBe(status);
    if (status === 200) expect(await got.json()).toEqual({ items: [] });
  });
});

const UNSEEN = [
  "\u200b\u200d\ufeff",
  "\u3164",
  " \u200b\n",
  "\u2800",
  "\u00ad",
  "\u202e",
  "\u2061",
  "\ufe0f",
  "\0",
  "\u{e0020}",
];

test.each([...UNSEEN, UNSEEN.join("")])(
  "D5, U1: a message of which nothing is seen is 422: %j",
  async (text) => {
    const { post, agent } = await startService();
    const server = await post("/v1/messages", { threadId: "t", userId: "u", text }, bearer);
    expect(server.status).toBe(422);
    expect(await server.text()).toBe("The text has no visible character");
    const visitor = await startVisitor();
    expect((await visitor.send("messages", { text })).status).toBe(422);
    const agUi = { runId: "r", messages: [{ id: "m", role: "user", content: text }] };
    expect((await visitor.send("ag-ui", agUi)).status).toBe(422);
    expect(agent.turns + visitor.agent.turns).toBe(0);
  },
);

test("D5, U07: spaces and line breaks alone are a text", async () => {
  const { post, agent } = await startService();
  for (const [nth, text] of [" ", "\n\t\u00a0\u3000"].entries()) {
    const said = await post("/v1/messages", { threadId: `t${nth}`, userId: "u", text }, bearer);
    expect(said.status).toBe(200);
    (await agent.turn()).finish();
  }
});

test("D5: an image says something without a text that is seen", async () => {
  const { post, store, agent, renew } = await startService();
  await store.putChannel({ ...cli, agent: { images: true } });
  await renew();
  const attachments = [{ url: TINY_PNG }];
  const said = await post(
    "/v1/messages",
    { threadId: "t", userId: "u", text: "\u200b", attachments },
    bearer,
  );
  expect(said.status).toBe(200);
  (await agent.turn()).finish();
});

test("D4: what a serializer writes of unset fields costs no refusal, on each of the three APIs", async () => {
  const service = await startOperated(manyUses);
  const { post, agent, as, newToken, newThread } = service;
  const unset = {
    channel: null,
    clientMessageId: null,
    displayName: null,
    attachments: null,
    attributes: null,
    context: null,
    locale: null,
  };
  const said = await post("/v1/messages", { threadId: "t", userId: "u", text: "x", ...unset }, bearer);
  expect(said.status).toBe(200);
  (await agent.turn()).finish();
  await said.text();
  expect(
    (await post("/v1/messages/cancel", { threadId: "t", userId: "u", channel: null }, bearer)).status,
  ).toBe(204);
  const asked = { channel: "cli", externalUserId: "u", displayName: null };
  expect((await post("/v1/access", asked, bearer)).status).toBe(200);

  const token = await newToken();
  const threadId = await newThread(token);
  const headers = { headers: { "x-visitor-token": token } };
  const page = { clientMessageId: null, attachments: null, page: null, customerContext: null, locale: null };
  const visit = await post("/v1/widget/messages", { threadId, text: "x", ...page }, headers);
  expect(visit.status).toBe(200);
  (await agent.turn()).finish();
  await visit.text();
  const webmcpTools = [
    { name: "a", description: null, inputSchema: { type: "object", properties: null, required: null } },
  ];
  expect((await post("/v1/widget/tools", { threadId, webmcpTools }, headers)).status).toBe(204);
  const rating = { messageId: "2", rating: "up", comment: null };
  expect((await post(`/v1/widget/threads/${threadId}/feedback`, rating, headers)).status).toBe(204);

  const channel = {
    slug: "new",
    kind: "web",
    allowedOrigins: ["https://new.example"],
    agent: null,
    webhooks: null,
  };
  expect((await as("admin", "POST", "/channels", channel)).status).toBe(201);
  expect((await as("admin", "POST", "/operators", { name: "b", role: "agent", channels: null })).status).toBe(
    201,
  );
  expect((await as("admin", "PATCH", "/channels/new", { webhooks: null })).status).toBe(422);
});
