// For src/domain/name-map.ts, src/domain/threads/, src/domain/channels/, src/domain/people/, src/domain/
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { agentSchema, channelFieldsSchema } from "../../src/domain/channels/channel-fields.ts";
import { documentedMap, nameMap, withoutPrototypes } from "../../src/domain/name-map.ts";
import { parseChannels } from "../../src/installation/channels-file.ts";
import { parseProviders } from "../../src/installation/providers-file.ts";
import { startOperated } from "../http/operator-api/operators-service.ts";
import { filesWith } from "../support/house/files-with.ts";

const ODD = '{"__proto__":"a","constructor":"b","toString":"c"}';

test("A7: nameMap() keeps every name, and a lookup finds what was written alone", () => {
  const map = nameMap(z.string(), z.string()).parse(JSON.parse(ODD));
  expect(Object.keys(map)).toEqual(["__proto__", "constructor", "toString"]);
  expect(map["__proto__"]).toBe("a");
  expect(nameMap(z.string(), z.string()).parse({})["constructor"]).toBeUndefined();
  expect(JSON.stringify({ ...map })).toBe(ODD);
  for (const wrong of ["[]", "null", '"x"', '{"a":1}'])
    expect(nameMap(z.string(), z.string()).safeParse(JSON.parse(wrong)).success).toBe(false);
});

test("A7: nameMap() is documented as an object", () => {
  expect(
    z.toJSONSchema(nameMap(z.string(), z.boolean()), { io: "input", unrepresentable: documentedMap }),
  ).toMatchObject({
    type: "object",
    additionalProperties: { type: "boolean" },
  });
});

test("A7: withoutPrototypes() names the place, and takes what is nested deeper than the stack", () => {
  const found = withoutPrototypes(z.unknown()).safeParse(JSON.parse('{"a":[{"b":{"__proto__":1}}]}'));
  expect(found.error?.issues[0]?.path).toEqual(["a", "0", "b", "__proto__"]);
  const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) as unknown;
  expect(withoutPrototypes(z.unknown()).safeParse(deep).success).toBe(true);
});

const SERVER = '{"url":"https://x.example"}';
const SETTINGS = [
  `{"mcpServers":{"__proto__":${SERVER}}}`,
  '{"mcpServers":{"s":{"url":"https://x.example","headers":{"__proto__":"a"}}}}',
  '{"body":{"__proto__":{"n":50}}}',
  '{"body":{"deep":[{"__proto__":{"n":50}}]}}',
  '{"__proto__":{"model":"m"}}',
];

test.each(SETTINGS)("A7: %s is 422 by the API, and refused in a file", async (agent) => {
  const { as, store } = await startOperated();
  const before = await store.channel("shop");
  const got = await as("shop-admin", "PATCH", "/channels/shop", `{"agent":${agent}}`);
  expect([got.status, await got.text()]).toEqual([422, expect.stringContaining("__proto__") as unknown]);
  expect(await store.channel("shop")).toEqual(before);
  expect(agentSchema.safeParse(JSON.parse(agent)).success).toBe(false);
  expect(channelFieldsSchema.safeParse(JSON.parse(`{"slug":"a","agent":${agent}}`)).success).toBe(false);
  const file = `{"channels":[{"slug":"a","kind":"transport","agent":${agent}}]}`;
  expect(() => parseChannels(file, () => null)).toThrow("__proto__: must have no name __proto__");
});

test("A7: PROVIDERS_FILE is refused with such a name", () => {
  for (const file of [
    '{"providers":{"__proto__":{"baseUrl":"https://x.example"}}}',
    '{"providers":{"a":{"body":{"__proto__":1}}}}',
    '{"providers":{"a":{}},"models":{"__proto__":"a/b"}}',
  ]) {
    expect(() => parseProviders(file, () => null, "m")).toThrow("must have no name __proto__");
  }
});

test("A7: a channel may be called __proto__ or constructor, and starts its own servers alone", () => {
  const own = (slug: string) =>
    `{"slug":"${slug}","kind":"transport","agent":{"mcpServers":{"s":{"command":"${slug}"}}}}`;
  const { processServers } = parseChannels(
    `{"channels":[${["__proto__", "constructor"].map(own).join()}]}`,
    () => null,
  );
  expect(processServers.get("__proto__")).toEqual({ s: { command: "__proto__" } });
  expect(processServers.get("constructor")).toEqual({ s: { command: "constructor" } });
});

/** What is read by such a record has been looked at by withoutPrototypes(), or is what this service itself answers. */
const RECORDS: Record<string, string> = {
  "src/domain/channels/channel-fields.ts": "inside withoutPrototypes()",
  "src/domain/channels/messenger.ts": "inside withoutPrototypes()",
  "src/installation/providers-file.ts": "inside withoutPrototypes()",
  "src/http/operator-api/channels.ts": "inside withoutPrototypes(), and answers",
  "src/http/health.ts": "answers",
  "src/http/operator-api/audit.ts": "answers",
  "src/http/operator-api/stats.ts": "answers",
  "src/protocol/user.ts": "answers",
  "src/protocol/lines.ts": "answers",
  "src/http/ag-ui/copilot-kit.ts": "answers",
  "src/operators/threads/machine-view.ts": "answers",
  "src/domain/prices.ts": "inside withoutPrototypes(), and a file of the person who reads the result",
  "src/demo/model/demo-model.ts": "the demo's model",
  "src/demo/model/invent-arguments.ts": "the demo's model",
};

test("A7: no other schema reads a map with zod's record, which drops __proto__ in silence", () => {
  const own = filesWith("src", "record(").filter(
    (file) => !/^src\/(?:widget|console)\//.test(file) && /\bz\s*\.record\(/.test(readFileSync(file, "utf8")),
  );
  expect(own.sort()).toEqual(Object.keys(RECORDS).sort());
});
