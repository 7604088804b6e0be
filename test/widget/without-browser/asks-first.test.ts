// For src/widget/tools/asks-first.ts
import { expect, test } from "vitest";
import { printable } from "../../../src/client/core/printable.ts";
import { asksFirst } from "../../../src/widget/tools/asks-first.ts";
import type { ModelContext } from "../../../src/widget/tools/model-context.ts";
import { annotationsOf, watchRegistrations } from "../../../src/widget/tools/registered-marks.ts";

/** A list of tools that tells of marks as little as MCP-B's polyfill does. */
function forgetfulContext(): ModelContext & { registerTool: (tool: unknown) => unknown } {
  const names = new Set<string>();
  return Object.assign(new EventTarget(), {
    registerTool(tool: unknown) {
      const { name } = tool as { name: string };
      if (names.has(name)) return Promise.reject(new Error("Duplicate tool name"));
      names.add(name);
      return Promise.resolve();
    },
  });
}

const asks = (context: ModelContext, name: string, listed?: { readOnlyHint: boolean }) =>
  asksFirst(annotationsOf(context, { name, annotations: listed }) ?? {}, "consequential");

test.each([
  [{ destructiveHint: true }, true],
  [{ consequentialHint: true }, true],
  [{ destructiveHint: false, consequentialHint: false }, false],
  [{ readOnlyHint: true }, false],
  [{}, false],
])("a tool that is registered with %o asks first: %s", async (annotations, expected) => {
  const context = forgetfulContext();
  watchRegistrations(context);
  watchRegistrations(context);
  await context.registerTool({ name: "buy", annotations });
  expect(asks(context, "buy", { readOnlyHint: false })).toBe(expected);
});

test("a tool that was registered unseen asks first, unless it only reads or has no annotations", () => {
  const context = forgetfulContext();
  watchRegistrations(context);
  expect(asks(context, "early", { readOnlyHint: false })).toBe(true);
  expect(asks(context, "early", { readOnlyHint: true })).toBe(false);
  expect(asks(context, "early")).toBe(false);
});

test("a second tool of a name, which is refused, does not take the mark of the first", async () => {
  const context = forgetfulContext();
  watchRegistrations(context);
  await context.registerTool({ name: "buy", annotations: { destructiveHint: true } });
  await expect(context.registerTool({ name: "buy", annotations: {} })).rejects.toThrow("Duplicate");
  expect(asks(context, "buy", { readOnlyHint: false })).toBe(true);
});

test("a question shows controls of text, which could make one value look like another, as what they are", () => {
  expect(printable("100 \u202e001 \u2066€\u2069\u0007\n")).toBe("100 \ufffd001 \ufffd€\ufffd\ufffd\n");
  expect(printable("مرحبا, שלום, naïve")).toBe("مرحبا, שלום, naïve");
});
