// For src/agent/tools/calls.ts, src/agent/tools/arguments.ts
import { expect, it } from "vitest";
import { createArgumentCheck } from "../../../src/agent/tools/argument-check.ts";
import { noteCall, receiveCall, resolveCall } from "../../../src/agent/tools/calls.ts";
import { PickedSchema } from "../../../src/agent/tools/picked-schema.ts";
import { offerTools } from "../../../src/agent/tools/tools.ts";

const inputSchema = {
  type: "object" as const,
  properties: { sku: { type: "string" } },
  required: ["sku"],
};
const stock = {
  server: "shop",
  name: "stock",
  title: "Looking into the stock",
  description: "",
  inputSchema,
  picked: new PickedSchema(inputSchema),
  repeatable: true,
  readOnly: false,
  destructive: false,
};
const offers = offerTools([stock], [{ name: "buy", inputSchema }]);

const resolve = (name: string, args: string) =>
  resolveCall(receiveCall({ callId: "c1", name, arguments: args }), offers, createArgumentCheck());

it("resolves a call to the server and the tool that were offered", async () => {
  expect(await resolve("stock", '{"sku":"red"}')).toEqual({
    callId: expect.stringMatching(/^.{22}$/),
    kind: "server",
    server: "shop",
    tool: "stock",
    arguments: { sku: "red" },
    progress: "Looking into the stock",
    repeatable: true,
  });
  const { server, ...page } = { server: undefined, ...(await resolve("buy", '{"sku":"red"}')) };
  expect(page).toMatchObject({ kind: "page", tool: "buy", repeatable: false });
  expect(server).toBeUndefined();
});

it.each(["stock", "buy"])("refuses arguments that do not fit, whoever has the tool: %s", async (name) => {
  for (const [args, reason] of [
    ["{}", "required"],
    ['{"sku":7}', "string"],
    ["[]", "object"],
    ["{", "JSON"],
  ] as const) {
    expect(await resolve(name, args)).toMatchObject({
      kind: "refused",
      reason: expect.stringMatching(new RegExp(`^Cannot call ${name}: .*${reason}`)),
    });
  }
});

const now = { name: "now", inputSchema: { type: "object" as const, properties: {} } };
const both = offerTools([stock], [now]);
const resolveOf = (name: string, args: string) =>
  resolveCall(receiveCall({ callId: "c1", name, arguments: args }), both, createArgumentCheck());

it.each(["null", " null ", '"null"', '""', "None", "undefined", ""])(
  "M16: B4: arguments that are the word null are none, for a tool that needs none: %j",
  async (args) => {
    expect(await resolveOf("now", args)).toMatchObject({ kind: "page", tool: "now", arguments: {} });
    expect(await resolveOf("stock", args)).toMatchObject({
      kind: "refused",
      reason: expect.stringMatching(/^Cannot call stock: .*sku/) as string,
    });
  },
);

it("B4: arguments that were encoded twice are decoded twice", async () => {
  const twice = JSON.stringify('{"sku":"red"}');
  expect(await resolveOf("stock", twice)).toMatchObject({ kind: "server", arguments: { sku: "red" } });
  for (const odd of [JSON.stringify(twice), JSON.stringify("red"), JSON.stringify('{"sku":'), '"'])
    expect(await resolveOf("stock", odd)).toMatchObject({ kind: "refused" });
});

it("M16: B4: what the model reads again of its call is the JSON text of an object", () => {
  const noted = (args: string) =>
    noteCall(receiveCall({ callId: "c1", name: "now", arguments: args })).arguments;
  expect(["null", "None", '""', JSON.stringify('{"sku":"red"}'), ' {"a": 1}'].map(noted)).toEqual([
    "{}",
    "{}",
    "{}",
    '{"sku":"red"}',
    ' {"a": 1}',
  ]);
});

it("notes a call in a form that the model's API takes back", () => {
  const noted = (name: string, args: string) =>
    noteCall(receiveCall({ callId: "c1", name, arguments: args }));
  expect(noted("buy", '{"sku":"red"}')).toMatchObject({ offeredName: "buy", arguments: '{"sku":"red"}' });
  expect(noted("buy", " ")).toMatchObject({ arguments: "{}" });
  expect(noted("buy", "{oops")).toMatchObject({ arguments: "{}" });
  expect(noted("buy it!", "{}").offeredName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});
