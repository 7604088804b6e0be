// For src/client/core/json-lines.ts, src/client/core/silence.ts
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { readJsonLines } from "../../../src/client/core/json-lines.ts";
import { endedBySilence, SILENCE_MS } from "../../../src/client/core/silence.ts";

const CUT = new TypeError("network error");

/** A body of these bytes, in pieces of these sizes; it ends with them, breaks off, or says no more. */
function bodyOf(text: string, sizes: readonly number[], end: "ends" | "breaks" | "rests" = "ends") {
  let bytes = new TextEncoder().encode(text);
  let nth = 0;
  const cancel = vi.fn<() => void>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const size = sizes[nth++ % sizes.length] ?? 1;
      if (bytes.length > 0) controller.enqueue(bytes.slice(0, size));
      else if (end === "ends") controller.close();
      else if (end === "breaks") controller.error(CUT);
      bytes = bytes.slice(size);
    },
    cancel,
  });
  return { body, cancel };
}

async function linesOf(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<unknown[]> {
  const lines: unknown[] = [];
  for await (const line of readJsonLines(body.getReader())) lines.push(line);
  return lines;
}

test("lines are the same however their bytes arrive, white space between them or not; half a line is dropped", async () => {
  const line = fc.record({
    text: fc.string({ unit: fc.constantFrom("a", "\n", "é", "…", "\u2028", "🦉"), maxLength: 6 }),
  });
  const space = fc.constantFrom("", " ", "   ", "\n", " \n");
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 });
  const half = fc.constantFrom("", " ", '{"text":"ha');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(space, line), { maxLength: 3 }),
      half,
      sizes,
      async (said, rest, pieces) => {
        const text = said.map(([before, value]) => `${before}${JSON.stringify(value)}\n`).join("") + rest;
        expect(await linesOf(bodyOf(text, pieces).body)).toEqual(said.map(([, value]) => value));
      },
    ),
  );
});

test("what breaks off, or holds no JSON, rejects; the lines before it were told", async () => {
  for (const [text, fault] of [
    ['{"a":1}\n{"b"', CUT],
    ['{"a":1}\n<html>\n', new SyntaxError()],
  ] as const) {
    const lines = readJsonLines(bodyOf(text, [3], "breaks").body.getReader());
    expect(await lines.next()).toEqual({ done: false, value: { a: 1 } });
    await expect(lines.next()).rejects.toBeInstanceOf(fault.constructor);
  }
});

test("who stops reading early leaves the rest of the body", async () => {
  const { body, cancel } = bodyOf('{"a":1}\n{"b":2}\n', [1]);
  for await (const line of readJsonLines(body.getReader())) {
    expect(line).toEqual({ a: 1 });
    break;
  }
  await expect.poll(() => cancel.mock.calls.length).toBe(1);
});

test("a body counts as dead after 45 s of silence, and not before", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const [armed, cleared] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  const { body, cancel } = bodyOf('{"a":1}\n ', [8, 1], "rests");
  const lines = readJsonLines(endedBySilence(body.getReader()));
  await lines.next();
  let isOver = false;
  const next = lines.next().finally(() => (isOver = true));
  next.catch(() => {});
  await vi.advanceTimersByTimeAsync(SILENCE_MS - 1);
  expect([isOver, SILENCE_MS]).toEqual([false, 45_000]);
  await vi.advanceTimersByTimeAsync(1);
  await expect(next).rejects.toThrow("The connection is dead");
  expect(cancel).toHaveBeenCalledOnce();
  // Its own alone: what other files of this process left running may have timers, too.
  const own = armed.mock.results.filter((_, nth) => armed.mock.calls[nth]?.[1] === SILENCE_MS);
  expect(own).toHaveLength(3);
  for (const { value } of own) expect(cleared.mock.calls.some(([timer]) => timer === value)).toBe(true);
});
