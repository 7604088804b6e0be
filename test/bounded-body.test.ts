// For src/bounded-body.ts
import { describe, expect, test } from "vitest";
import { AnswerTooLong, beginningOf, boundedBody } from "../src/bounded-body.ts";

/** A body that never ends, and whether its reader has cancelled it. */
function endless() {
  let isCancelled = false;
  let read = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        read += 1;
        controller.enqueue(Buffer.from("abcdefgh"));
      },
      cancel() {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, isCancelled: () => isCancelled, read: () => read };
}

const failing = () =>
  new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new Error("lost"));
    },
  });

describe("beginningOf()", () => {
  test("reads the first bytes, and cancels the rest", async () => {
    const { body, isCancelled, read } = endless();
    expect(await beginningOf(body, 10)).toBe("abcdefghab");
    expect([isCancelled(), read()]).toEqual([true, 2]);
  });

  test("is all of a short body, and empty of none and of one that fails", async () => {
    expect(await beginningOf(new Response("short").body, 100)).toBe("short");
    expect(await beginningOf(null, 100)).toBe("");
    expect(await beginningOf(failing(), 100)).toBe("");
  });
});

describe("boundedBody()", () => {
  test("passes a body on that is within its bounds, and says that it is over", async () => {
    const ends: (Error | null)[] = [];
    const body = new Response("0123456789").body ?? failing();
    const bounded = boundedBody(body, { mostBytes: 10, onEnd: (error) => void ends.push(error) });
    expect(await new Response(bounded).text()).toBe("0123456789");
    expect(ends).toEqual([null]);
  });

  test("fails where a body is longer, and reads no further", async () => {
    const ends: unknown[] = [];
    const { body, isCancelled, read } = endless();
    const bounded = boundedBody(body, { mostBytes: 20, onEnd: (error) => void ends.push(error) });
    await expect(new Response(bounded).text()).rejects.toThrow(AnswerTooLong);
    expect(ends).toEqual([expect.any(AnswerTooLong)]);
    await expect.poll(isCancelled).toBe(true);
    expect(read()).toBe(3);
  });

  test("fails as the body does, and is cancelled with its reader", async () => {
    await expect(new Response(boundedBody(failing(), { mostBytes: 20 })).text()).rejects.toThrow("lost");
    const { body, isCancelled } = endless();
    await boundedBody(body, { mostBytes: 20 }).cancel();
    expect(isCancelled()).toBe(true);
  });
});
