// For src/replay/case-file.ts, src/replay/case.ts, src/replay/play.ts
import { expect, test } from "vitest";
import { parseCases, withCase } from "../../src/replay/case-file.ts";
import { caseOf } from "./playing.ts";

const exchanges = [{ user: "Hi" }];
const [a, b] = [
  { name: "a", exchanges },
  { name: "b", exchanges },
];
const names = (text: string) => parseCases(text).map(({ name }) => name);

test("a file is a list of cases, one case, or a case a line", () => {
  expect(names(JSON.stringify({ cases: [a, b] }, null, 2))).toEqual(["a", "b"]);
  expect(names(JSON.stringify(a))).toEqual(["a"]);
  expect(names(JSON.stringify(a, null, 2))).toEqual(["a"]);
  expect(names(`${JSON.stringify(a)}\n\n${JSON.stringify(b)}\n`)).toEqual(["a", "b"]);
});

test.each<[what: string, text: string, complaint: RegExp]>([
  ["no JSON", "{\n oops", /^it is not JSON: /],
  ["an unknown field", JSON.stringify({ cases: [{ ...a, prompts: 1 }] }), /^cases\[0\]: .*prompts/],
  ["no exchange", JSON.stringify({ name: "a", exchanges: [] }), /^exchanges: /],
  ["an unknown check", JSON.stringify({ ...a, checks: { equals: "x" } }), /^checks: .*equals/],
  [
    "a call without a result",
    JSON.stringify({ name: "a", exchanges: [{ user: "x", calls: [{ tool: "t" }] }] }),
    /^exchanges\[0\]\.calls\[0\]\.result/,
  ],
  ["a line of another shape", `${JSON.stringify(a)}\n{"name":"b"}`, /^line 2: exchanges/],
  ["a line that is no JSON", `${JSON.stringify(a)}\n{oops`, /^line 2: /],
  ["two cases of a name", JSON.stringify({ cases: [a, a] }), /^two cases are called "a"$/],
  [
    "an image that is none",
    JSON.stringify({ name: "a", exchanges: [{ user: "x", attachments: [{ url: "file:///etc/passwd" }] }] }),
    /^exchanges\[0\]\.attachments\[0\]\.url: must be a data: URL/,
  ],
  ["MCP servers", JSON.stringify({ ...a, agent: { mcpServers: {} } }), /^agent: .*mcpServers/],
])("%s is refused in one line that says where", (_what, text, complaint) => {
  expect(() => parseCases(text)).toThrow(complaint);
});

test("a case is added to a file, and replaces one of its name", () => {
  for (const asLines of [false, true]) {
    const one = withCase(null, caseOf(a), { asLines });
    const two = withCase(one, caseOf(b), { asLines });
    const again = withCase(two, caseOf({ name: "a", exchanges: [{ user: "Ho" }] }), { asLines });
    expect(parseCases(again).map(({ name, exchanges: [first] }) => [name, first?.user])).toEqual([
      ["a", "Ho"],
      ["b", "Hi"],
    ]);
    expect(again.trimEnd().split("\n").length === 2).toBe(asLines);
  }
});
