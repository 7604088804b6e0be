// For src/http/body.ts
import { expect, test } from "vitest";
import { z } from "zod";
import { Refusal } from "../../../src/domain/refusal.ts";
import { readBody } from "../../../src/http/body.ts";
import type { HttpRequest } from "../../../src/listener.ts";

interface Reading {
  schema?: z.ZodType;
  mayBeLong?: () => Promise<void>;
  method?: string;
}

/** What is read of a body; the refusal where it is one. */
async function read(
  body: string,
  headers: Record<string, string> = {},
  { schema = z.looseObject({ text: z.string() }), mayBeLong = async () => {}, method = "POST" }: Reading = {},
) {
  const request: HttpRequest = {
    method,
    path: "/",
    query: "",
    headers: new Map(Object.entries({ "content-type": "application/json", ...headers })),
    address: "",
    contentLength: Buffer.byteLength(body),
    body: () => Promise.resolve(Buffer.from(body)),
  };
  const reading = await readBody(request, 1_000, { schema }, mayBeLong);
  return reading.ok ? reading.value : reading.refusal;
}

test.each([
  ["identity", true],
  [" Identity ", true],
  ["gzip", false],
  ["identity, gzip", false],
  ["", false],
])("a body is sent as it is: content-encoding %s", async (encoding, isTaken) => {
  const value = await read('{"text":"a"}', { "content-encoding": encoding });
  if (isTaken) expect(value).toEqual({ text: "a" });
  else expect(value).toMatchObject({ reason: "unsupported-encoding" });
});

test.each([
  ["application/json", true],
  ["Application/JSON; charset=UTF-8", true],
  ['application/json ; charset="utf-8";', true],
  ["application/json; charset=utf8", true],
  ["application/json;charset=US-ASCII", true],
  ["application/json; indent=4", true],
  ["application/json; odata=verbose; odata.metadata=minimal; IEEE754Compatible=true; charset=utf-8", true],
  ['application/json; profile="https://example.com/a;b"', true],
  ["application/json; charset=latin1", false],
  ["application/json; indent=4; a=1; b=2; c=3; charset=utf-16", false],
  ["application/json; charset", false],
  ["application/jsonp", false],
  ["text/json", false],
  ["text/plain", false],
  ["", false],
])("a body is JSON in UTF-8: content-type %s", async (type, isTaken) => {
  const value = await read('{"text":"a"}', { "content-type": type });
  if (isTaken) expect(value).toEqual({ text: "a" });
  else expect(value).toMatchObject({ reason: "invalid" });
});

test("U2: a byte order mark before the JSON is left out, one within it kept", async () => {
  expect(await read('\ufeff{"text":"\ufeffa"}')).toEqual({ text: "\ufeffa" });
});

test("D4: a field that is null is as absent where null is no value of it, at any depth", async () => {
  const schema = z.object({
    text: z.string(),
    note: z.string().optional(),
    kind: z.string().default("plain"),
    rating: z.string().nullable(),
    any: z.unknown().optional(),
    facts: z.record(z.string(), z.string()).optional(),
    list: z.array(z.object({ name: z.string().exactOptional() })).optional(),
  });
  const nulls = { note: null, kind: null, rating: null, any: null, facts: null, list: [{ name: null }] };
  const value = await read(JSON.stringify({ text: "a", ...nulls }), {}, { schema });
  expect(value).toEqual({ text: "a", kind: "plain", rating: null, any: null, list: [{}] });
  const naming = async (body: object) => String(await read(JSON.stringify(body), {}, { schema }));
  expect(await naming({ text: null, rating: null })).toMatch(/schema: text$/);
  expect(await naming({ text: "a", note: null, rating: 1 })).toMatch(/schema: rating$/);
  expect(await naming({ text: "a", rating: null, list: [null] })).toMatch(/schema: list.0$/);
  expect(await naming({ text: "a", rating: null, facts: { plan: null } })).toMatch(/schema: facts.plan$/);
});

test("D4: in a PATCH, where null takes away, one that cannot be taken away is refused", async () => {
  const schema = z.object({ name: z.string().nullable().optional(), isBlocked: z.boolean().optional() });
  expect(await read('{"name":null}', {}, { schema, method: "PATCH" })).toEqual({ name: null });
  const refused = await read('{"isBlocked":null}', {}, { schema, method: "PATCH" });
  expect(refused).toMatchObject({ reason: "invalid" });
});

test("the first field that is wrong is named, in few and plain letters, and its value never", async () => {
  expect(await read('{"text":7000}')).toMatchObject({
    message: "invalid: The body does not match the schema: text",
  });
  const refusal = await read("7000");
  expect(refusal).toBeInstanceOf(Refusal);
  expect(String(refusal)).not.toContain("7000");

  const naming = async (key: string) =>
    String(await read(JSON.stringify({ [key]: 1 }), {}, { schema: z.record(z.string(), z.string()) }));
  expect(await naming("a\nb<c>")).toMatch(/schema: a\?b\?c\?$/);
  expect(await naming("k".repeat(500))).toMatch(/schema: k{80}$/);
});

test.each([
  ["1e400", false],
  ["-1e400", false],
  [`1${"0".repeat(400)}`, false],
  [`[[{"n":${"9".repeat(400)}}]]`, false],
  // The shortest that is too large.
  [`2${"0".repeat(308)}`, false],
  ["1e308", true],
  ["1e-400", true],
  [`0.${"0".repeat(400)}1`, true],
  [`"${"1".repeat(400)} and 1e400"`, true],
])(
  "a number that JSON cannot express again is refused, and nothing that looks like one: %s",
  async (n, isTaken) => {
    const value = await read(`{"text":"a","n":${n}}`);
    if (isTaken) expect(value).toMatchObject({ text: "a" });
    else expect(value).toMatchObject({ reason: "invalid" });
  },
);

test.each([
  [String.raw`a\ud83d\ude00b`, "a\u{1f600}b"],
  [String.raw`a\ud83db`, "a\ufffdb"],
  [String.raw`a\ude00\ud83d`, "a\ufffd\ufffd"],
  [String.raw`a\\ud83d`, String.raw`a\ud83d`],
])("an escaped half of a pair is replaced, and nothing else: %s", async (written, text) => {
  expect(await read(`{"text":"${written}"}`)).toEqual({ text });
});

test("a body of more than 4 KB is read when its sender is known", async () => {
  const mayBeLong = () => Promise.reject(new Refusal("unauthorized"));
  expect(await read(`{"text":"${"a".repeat(4_000)}"}`, {}, { mayBeLong })).toEqual({
    text: expect.stringMatching(/^a+$/),
  });
  const long = read("{".repeat(5_000), {}, { mayBeLong });
  await expect(long).rejects.toMatchObject({ reason: "unauthorized" });
});
