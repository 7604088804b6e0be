// For src/domain/channels/offerable-tools.ts
import { describe, expect, test } from "vitest";
import { MAX_TOOLS, offerableTools } from "../../src/domain/channels/offerable-tools.ts";

const tool = (name: string, inputSchema: unknown = { type: "object", properties: {} }) => ({
  name,
  description: "",
  inputSchema: inputSchema as { type: "object" },
});

function nested(levels: number): object {
  let schema: object = {};
  for (let level = 1; level < levels; level += 1) schema = { properties: schema };
  return { type: "object", ...schema };
}

describe("offerableTools()", () => {
  test("offers each name once, the first that has it", () => {
    const [first, second, other] = [tool("a"), tool("a", { type: "object", title: "late" }), tool("b")];
    const { tools, dropped } = offerableTools([first, second, other]);
    expect(tools).toEqual([first, other]);
    expect(dropped).toEqual(["a"]);
  });

  test("offers one less than a model takes, beside the service's own", () => {
    const { tools, dropped } = offerableTools(Array.from({ length: MAX_TOOLS + 1 }, (_, n) => tool(`t${n}`)));
    expect(tools).toHaveLength(MAX_TOOLS - 1);
    expect(dropped).toEqual([`t${MAX_TOOLS - 1}`, `t${MAX_TOOLS}`]);
  });

  test("drops what is nested too deeply, says how much that is at least, and is quick on any depth", () => {
    // The tool itself is a level, too.
    const least = offerableTools([tool("flat", nested(511)), tool("deep", nested(512))]);
    expect([least.tools.map(({ name }) => name), least.dropped]).toEqual([["flat"], ["deep"]]);
    const { dropped, droppedChars } = offerableTools([tool("deep", nested(100_000))]);
    expect(dropped).toEqual(["deep"]);
    expect(droppedChars).toBeGreaterThan(200_000);
  });
});
