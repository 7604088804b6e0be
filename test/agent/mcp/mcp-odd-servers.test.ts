// For src/agent/mcp/list-tools.ts, src/agent/mcp/read-tool.ts, src/agent/mcp/mended-schema.ts,
// src/agent/mcp/oddities.ts, src/agent/mcp/connect/unusable.ts
import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/log.ts";
import { listing, openScriptedServer, say, sayError } from "./scripted-mcp-server.ts";
import type { Player } from "./scripted-mcp-server.ts";
import type { McpServers } from "../../../src/agent/mcp/sessions.ts";
import { callOf, never, openSessions } from "./sessions.ts";

const find = {
  name: "find",
  inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] },
};

/** A server, its sessions, and what they logged. */
async function openLogged(players: Record<string, Player>, tools?: { allow?: string[]; deny?: string[] }) {
  const server = await openScriptedServer(players);
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    secrets: [],
    destination: { write: (line) => void lines.push(line) },
  });
  const sessions = openSessions({}, { log });
  const servers = { shop: { url: server.url, ...(tools ? { tools } : {}) } };
  const offered = async () => sessions.tools("cli", servers, never());
  return { server, sessions, lines, offered };
}

/** The row's number in the tests' names; what `bad` is; what it is offered as, null: not; and what the operator reads. */
const ODD: readonly [string, object, object | null, string][] = [
  [
    "P1: whose schema has no type",
    { inputSchema: { anyOf: [{ type: "object" }] } },
    { type: "object", anyOf: [{ type: "object" }] },
    "is mended (its inputSchema has no type object)",
  ],
  [
    "P2: with a property that is true",
    { inputSchema: { type: "object", properties: { data: true } } },
    { type: "object", properties: { data: {} } },
    "is mended (properties.data is true)",
  ],
  [
    "P2: with a property that is null, a list or a text",
    { inputSchema: { type: "object", properties: { a: null, b: [], c: "string" } } },
    { type: "object", properties: { a: {}, b: {}, c: {} } },
    "is mended (properties.a is no schema; properties.b is no schema; properties.c is no schema)",
  ],
  [
    "P2: with deeper parts that are true or false",
    { inputSchema: { type: "object", properties: { a: { type: "array", items: true, anyOf: [false] } } } },
    { type: "object", properties: { a: { type: "array", items: {}, anyOf: [{ not: {} }] } } },
    "is mended (properties.a.items is true; properties.a.anyOf.0 is false)",
  ],
  [
    "P2: with keywords of another kind",
    { inputSchema: { type: "object", properties: [], required: true, anyOf: null } },
    { type: "object" },
    "is mended (properties is no object; required is no list of names; anyOf is null)",
  ],
  [
    "P3: whose schema is null",
    { inputSchema: null },
    { type: "object", properties: {} },
    "is mended (its inputSchema is null)",
  ],
  ["P3: without a schema", {}, { type: "object", properties: {} }, "is mended (its inputSchema is missing)"],
  [
    "P3: whose schema is a text",
    { inputSchema: "{}" },
    null,
    "is left out (its inputSchema is no JSON Schema)",
  ],
  [
    "P3: whose schema is a list",
    { inputSchema: [] },
    null,
    "is left out (its inputSchema is no JSON Schema)",
  ],
  [
    "P1: whose schema is of another type",
    { inputSchema: { type: "string" } },
    null,
    "is left out (its inputSchema is of another type than object)",
  ],
  [
    "P1: whose schema has several types",
    { inputSchema: { type: ["object", "null"] } },
    { type: "object" },
    "is mended (its inputSchema has no type object)",
  ],
  [
    "P7: whose description is an object",
    { inputSchema: { type: "object" }, description: { en: "Finds" } },
    { type: "object" },
    "is mended (its description is no text)",
  ],
  [
    "G2: with a schema of 65 KB",
    { inputSchema: { type: "object", description: "d".repeat(65_000) } },
    null,
    "is left out (its inputSchema has 65034 characters, and may have 64000)",
  ],
  [
    "P7: with a schema of a hundred levels",
    { inputSchema: Array.from({ length: 100 }).reduce((inner: object) => ({ items: inner }), {}) },
    null,
    "is left out (its inputSchema is nested too deeply)",
  ],
  [
    "P7: that runs as a task alone",
    { inputSchema: { type: "object" }, execution: { taskSupport: "required" } },
    null,
    "is left out (it runs as a task alone, which this service does not support)",
  ],
];

describe("a server with a tool", () => {
  it.each(ODD)("%s offers its others, and the operator is told once", async (_, bad, schema, told) => {
    const played = await openLogged(listing([{ name: "bad", ...bad }, find]));
    const tools = await played.offered();
    expect(tools.map(({ name, inputSchema }) => [name, inputSchema])).toEqual([
      ...(schema === null ? [] : [["bad", schema]]),
      ["find", find.inputSchema],
    ]);
    expect(played.sessions.odd()).toEqual([
      { channel: "cli", server: "shop", oddities: expect.stringContaining(`tool "bad" ${told}`) as string },
    ]);
    await played.offered();
    played.sessions.clock.ms += 300_000;
    await played.offered();
    await expect.poll(() => played.server.asked.filter((one) => one === "tools/list")).toHaveLength(2);
    expect(played.lines).toHaveLength(1);
    expect(JSON.parse(played.lines[0] ?? "")).toMatchObject({
      level: 40,
      server: "shop",
      msg: expect.stringContaining(`MCP server shop: tool "bad" ${told}`) as string,
    });
  });

  it("P5: whose outputSchema is a list offers it, and there is nothing to tell", async () => {
    const many = { ...find, name: "many", outputSchema: { type: "array", items: {} } };
    const { offered, lines } = await openLogged(listing([find, many]));
    expect((await offered()).map(({ name }) => name)).toEqual(["find", "many"]);
    expect(lines).toEqual([]);
  });

  it("G2: with a description of 5 MB/2 offers its beginning", async () => {
    const { offered, lines } = await openLogged(listing([{ ...find, description: "d".repeat(2_500_000) }]));
    const [tool] = await offered();
    expect(tool?.description).toHaveLength(4_096);
    expect(tool?.description).toMatch(/d\n\[cut: the rest of this description is not shown\]$/);
    expect(lines.join("")).toContain("its description has 2500000 characters, of which 4096 are shown");
  });

  it("P7: that is denied, or not allowed, is not told of", async () => {
    const bad = { name: "bad", inputSchema: "{}" };
    for (const tools of [{ deny: ["bad"] }, { allow: ["find"] }]) {
      const { offered, lines } = await openLogged(listing([bad, find]), tools);
      expect(await offered()).toHaveLength(1);
      expect(lines).toEqual([]);
    }
  });

  it("P7: that is mended meanwhile is told of no more", async () => {
    const played = await openLogged(listing([{ name: "bad", inputSchema: "{}" }, find]));
    await played.offered();
    expect(played.sessions.odd()).toHaveLength(1);
    Object.assign(played.server.players, listing([find]));
    played.sessions.clock.ms += 300_000;
    await played.offered();
    await expect.poll(() => played.sessions.odd()).toEqual([]);
  });

  it("P7: of no name, of one that is there twice, or that is no object offers its others", async () => {
    const nameless = [null, 7, "find", [], {}, { name: "" }, { name: 7 }, { name: "n".repeat(300) }];
    const { offered, sessions, lines } = await openLogged(listing([...nameless, find, find]));
    expect((await offered()).map(({ name }) => name)).toEqual(["find"]);
    const [{ oddities } = { oddities: "" }] = sessions.odd();
    expect(oddities).toContain("a tool without a name is left out (it is no object)");
    expect(oddities).toContain("a tool without a name is left out (it has no name)");
    expect(oddities).toContain('tool "find" is left out (its name is there twice)');
    expect(lines).toHaveLength(1);
  });

  it("P7: whose hints are no booleans is destructive rather than repeatable", async () => {
    const annotations = { destructiveHint: "true", readOnlyHint: "true", idempotentHint: 1 };
    const { offered } = await openLogged(listing([{ ...find, annotations }]), { allow: ["find"] });
    expect(await offered()).toMatchObject([{ destructive: true, repeatable: false }]);
  });

  it("A7: of a name that every object has is a tool like any other", async () => {
    const own = ["__proto__", "constructor", "toString"];
    const text = JSON.stringify(own.map((name) => ({ ...find, name })));
    const { offered } = await openLogged(listing(JSON.parse(text)));
    expect((await offered()).map(({ name }) => name)).toEqual(own);
  });
});

it.each(["__proto__", "constructor", "toString"])(
  "A7: a server of the name %s is one like any other",
  async (name) => {
    const server = await openScriptedServer(listing([find]));
    const sessions = openSessions();
    const servers: McpServers = Object.fromEntries([[name, { url: server.url }]]);
    expect(await sessions.tools("cli", servers, never())).toMatchObject([{ name: "find", server: name }]);
    expect(await sessions.call("cli", servers, callOf(name, "find"), never())).toEqual({
      text: "found",
      isError: false,
    });
    // Taken away, it is no server any more, whatever every object has by that name.
    const gone = await sessions.call("cli", {}, callOf(name, "find"), never());
    expect(gone).toEqual({ text: "This tool is no longer available.", isError: true });
  },
);

describe("a server whose list", () => {
  it.each([null, "", 0, {}])("P6: has a nextCursor of %o ends there", async (nextCursor) => {
    const { server, offered, lines } = await openLogged(listing([find], { nextCursor }));
    expect(await offered()).toHaveLength(1);
    expect(server.asked.filter((one) => one === "tools/list")).toHaveLength(1);
    expect(lines).toEqual([]);
  });

  it("P6: repeats a cursor ends there", async () => {
    let page = 0;
    const { server, offered } = await openLogged({
      "tools/list": (response, posted) => {
        page += 1;
        say(response, posted, { tools: [{ ...find, name: `find${page}` }], nextCursor: "more" });
      },
    });
    expect(await offered()).toHaveLength(2);
    expect(server.asked.filter((one) => one === "tools/list")).toHaveLength(2);
  });

  it("P6: has a page without a new name ends there, and says nothing", async () => {
    let page = 0;
    const { server, offered, lines } = await openLogged({
      "tools/list": (response, posted) => {
        page += 1;
        say(response, posted, { tools: [find], nextCursor: `page ${page}` });
      },
    });
    expect(await offered()).toHaveLength(1);
    expect(server.asked.filter((one) => one === "tools/list")).toHaveLength(2);
    expect(lines).toEqual([]);
  });

  it.each([null, {}, "find", undefined])("P6: is %o cannot be used, and the log says so", async (tools) => {
    const { offered, lines } = await openLogged(listing(tools));
    expect(await offered()).toEqual([]);
    expect(lines.join("")).toContain("The answer to tools/list has no list of tools");
  });
});

describe("P8: a server of later revisions alone", () => {
  const supported = { supported: ["2027-03-01"], requested: "2025-11-25" };
  const told = "it speaks 2027-03-01 of MCP alone, and this service 2024-10-07 to 2026-07-28";
  const PLAYERS: readonly [string, Player, string][] = [
    [
      "that refuses",
      (response, posted) =>
        sayError(response, posted, {
          code: -32_022,
          message: "Unsupported protocol version",
          data: supported,
        }),
      told,
    ],
    [
      "that refuses with 400",
      (response, { id }) => {
        const error = { code: -32_022, message: "Unsupported protocol version", data: supported };
        response.writeHead(400, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
      },
      told,
    ],
    [
      "that answers in its own",
      (response, posted) =>
        say(response, posted, {
          protocolVersion: "2027-03-01",
          capabilities: { tools: {} },
          serverInfo: { name: "t", version: "1" },
        }),
      told,
    ],
    [
      "that has no initialize",
      (response, posted) => sayError(response, posted, { code: -32_601, message: "Method not found" }),
      "it speaks other revisions of MCP alone, and this service 2024-10-07 to 2026-07-28",
    ],
    [
      "that says what it likes",
      (response, posted) =>
        sayError(response, posted, { code: -32_022, message: "m", data: { supported: ["all of them\n"] } }),
      "it speaks other revisions of MCP alone, and this service 2024-10-07 to 2026-07-28",
    ],
  ];

  it.each(PLAYERS)("%s: one line says what is missing", async (_, initialize, why) => {
    const { sessions, offered, lines } = await openLogged({ initialize });
    expect(await offered()).toEqual([]);
    const fault = expect.stringContaining(`${why}: let the server speak one of these, too`) as string;
    expect(sessions.ill()).toEqual([{ channel: "cli", server: "shop", fault }]);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: 40,
      server: "shop",
      msg: expect.stringContaining(why) as string,
    });
  });
});
