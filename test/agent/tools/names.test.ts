// For src/agent/tools/names.ts
import fc from "fast-check";
import { expect, it } from "vitest";
import { freeName, isAllowedName, safeName } from "../../../src/agent/tools/names.ts";
import { anyCharacter } from "../../support/any-character.ts";
import { randomRuns } from "../../support/lengths.ts";

it("freeName() keeps a name that the model's API takes", () => {
  expect(freeName("add_to_cart", () => false)).toBe("add_to_cart");
});

it("freeName() gives a readable safe name for one that it does not take, the same each time", () => {
  const name = freeName("cart.add item", () => false);
  expect(name).toMatch(/^cart_add_item_[0-9a-f]{8}$/);
  expect(freeName("cart.add item", () => false)).toBe(name);
});

it("freeName() tells apart names that read the same, and names that say nothing", () => {
  expect(safeName("cart.add")).not.toBe(safeName("cart/add"));
  expect(safeName("购物车")).toMatch(/^tool_[0-9a-f]{8}$/);
  expect(safeName("")).toMatch(/^tool_[0-9a-f]{8}$/);
});

it("freeName() takes the first wish that is free", () => {
  expect(freeName("search", (name) => name === "search", ["shop_search"])).toBe("shop_search");
});

it("freeName() finds another safe name where a page named a tool after the first one", () => {
  const first = safeName("a b");
  const name = freeName("a b", (taken) => taken === first);
  expect(name).not.toBe(first);
  expect(isAllowedName(name)).toBe(true);
});

it("freeName() names any number of any tools with allowed, different names", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: anyCharacter, maxLength: 80 }), { maxLength: 30 }),
      (tools) => {
        const names = new Set<string>();
        for (const tool of tools) names.add(freeName(tool, (name) => names.has(name)));
        expect(names.size).toBe(tools.length);
        for (const name of names) expect(isAllowedName(name)).toBe(true);
      },
    ),
    { numRuns: randomRuns(200) },
  );
});
