// For src/domain/channels/portable-schema.ts
import { describe, expect, test } from "vitest";
import { PickedSchema } from "../../src/agent/tools/picked-schema.ts";
import { catalogSchema, portableSchema } from "../../src/domain/channels/portable-schema.ts";

/** What the model is shown of a tool whose page gives it this schema, after the service dropped what it does not take. */
function shown(schema: unknown): unknown {
  const { properties, required } = portableSchema(schema);
  const sent: unknown = JSON.parse(JSON.stringify({ type: "object", properties, required }));
  return new PickedSchema(sent).keywords;
}

const address = { type: "object", properties: { zip: { type: "string" } }, required: ["zip"] };

describe("W7: what a page's schema refers to reaches the model", () => {
  test.each<[string, object, object]>([
    [
      "$defs",
      { $defs: { Address: address }, properties: { to: { $ref: "#/$defs/Address" } }, required: ["to"] },
      { properties: { to: address }, required: ["to"] },
    ],
    [
      "definitions, one in another",
      {
        definitions: {
          Zip: { type: "string" },
          Address: { properties: { zip: { $ref: "#/definitions/Zip" } } },
        },
        properties: {
          n: { type: "number" },
          to: { type: "array", items: { $ref: "#/definitions/Address" } },
        },
      },
      {
        properties: {
          n: { type: "number" },
          to: { type: "array", items: { properties: { zip: { type: "string" } } } },
        },
      },
    ],
    [
      "an $anchor, and an $id",
      {
        $defs: { a: { $anchor: "addr", ...address }, z: { $id: "https://x.example/zip", type: "string" } },
        properties: { to: { $ref: "#addr" }, zip: { $ref: "https://x.example/zip" } },
      },
      { properties: { to: address, zip: { type: "string" } } },
    ],
    [
      "a name with odd letters, for a property with odd letters",
      {
        $defs: { "a/b ~%": { type: "string" } },
        properties: { "x/y ~%": { $ref: "#/$defs/a~1b%20~0%25" }, z: { $ref: "#/$defs/a~1b ~0%25" } },
      },
      { properties: { "x/y ~%": { type: "string" }, z: { type: "string" } } },
    ],
    [
      "a place among the properties, and definitions of the first property's own",
      {
        $defs: { d0: { type: "number" } },
        properties: {
          a: { $defs: { d0: { type: "string" } }, $ref: "#/properties/a/$defs/d0" },
          b: { $ref: "#/properties/a" },
          c: { $ref: "#/$defs/d0", description: "how many" },
        },
      },
      {
        properties: {
          a: { type: "string" },
          b: { type: "string" },
          c: { type: "number", description: "how many" },
        },
      },
    ],
    [
      "a root that is only a reference",
      { $ref: "#/definitions/Input", definitions: { Input: address } },
      address,
    ],
    [
      "a root of parts",
      {
        $defs: { A: address },
        allOf: [{ $ref: "#/$defs/A" }, { properties: { n: { type: "number" } }, required: ["n"] }],
        properties: { own: { type: "boolean" } },
      },
      {
        properties: { own: { type: "boolean" }, zip: { type: "string" }, n: { type: "number" } },
        required: ["zip", "n"],
      },
    ],
    [
      "a root of alternatives",
      {
        oneOf: [
          { properties: { by: { const: "car" }, seats: { type: "number" } }, required: ["by", "seats"] },
          { properties: { by: { const: "rail" } }, required: ["by"] },
        ],
      },
      {
        properties: { by: { anyOf: [{ const: "car" }, { const: "rail" }] }, seats: { type: "number" } },
        required: ["by"],
      },
    ],
    [
      "data that looks like a reference",
      {
        $defs: { A: { type: "string" } },
        properties: { a: { default: { $ref: "#/$defs/A" }, type: "object" }, const: { $ref: "#/$defs/A" } },
      },
      { properties: { a: { default: { $ref: "#/$defs/A" }, type: "object" }, const: { type: "string" } } },
    ],
    [
      "a reference to nothing",
      { properties: { a: { $ref: "#/$defs/None" }, b: { $ref: "https://elsewhere.example/x" } } },
      { properties: { a: {}, b: {} } },
    ],
    ["no properties", { $defs: { A: address } }, {}],
  ])("%s", (_name, schema, model) => {
    expect(shown(schema)).toEqual({ type: "object", ...model });
  });

  test("a schema that refers to itself ends", () => {
    const tree = { type: "object", properties: { left: { $ref: "#/$defs/Tree" } } };
    const model = shown({ $defs: { Tree: tree }, properties: { root: { $ref: "#/$defs/Tree" } } });
    expect(model).toEqual({
      type: "object",
      properties: { root: { type: "object", properties: { left: {} } } },
    });
    expect(shown({ properties: { more: { items: { $ref: "#" } } } })).toMatchObject({
      properties: { more: { items: { properties: { more: {} } } } },
    });
    expect(shown({ $ref: "#" })).toEqual({ type: "object" });
    expect(shown({ allOf: [{ $ref: "#" }, { $ref: "#" }] })).toEqual({ type: "object" });
  });

  test("what is no JSON, or nested without end, has no properties", () => {
    const cycle: Record<string, unknown> = { properties: {} };
    cycle["properties"] = { cycle };
    let deep: object = {};
    for (let n = 0; n < 100_000; n += 1) deep = { properties: { deep } };
    for (const schema of [cycle, { properties: { n: 1n } }, deep, undefined, null, "text", 7, []])
      expect(portableSchema(schema)).toEqual({ properties: undefined, required: undefined });
  });

  test("one definition is sent once, however often it is referred to", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`p${n}`, { $ref: "#/$defs/Long" }]),
    );
    const long = { description: "x".repeat(1_000) };
    const sent = JSON.stringify(portableSchema({ $defs: { Long: long, Unused: long }, properties }));
    expect(sent.length).toBeLessThan(5_000);
  });
});

describe("a tool's schema for the catalog", () => {
  test("has in properties and required what its root says otherwise, and no more of the root", () => {
    const schema = {
      $defs: { Address: address },
      properties: { to: { $ref: "#/$defs/Address" } },
      required: ["to"],
      anyOf: [{ required: ["to"] }],
    };
    expect(catalogSchema(schema)).toEqual({ type: "object", ...portableSchema(schema) });
    expect(catalogSchema(schema)).toMatchObject({ required: ["to"] });
    expect(Object.keys(catalogSchema({ $defs: {} }) as object)).toEqual(["type"]);
  });

  test("stays as it is where its root says nothing else, and what is no object is left to be refused", () => {
    const plain = { properties: { to: address }, additionalProperties: false };
    expect(catalogSchema(plain)).toEqual({ type: "object", ...plain });
    for (const schema of [undefined, null, "text", 7, []]) expect(catalogSchema(schema)).toEqual(schema);
  });
});
