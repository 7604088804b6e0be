// For src/client/core/
import { expect, test, vi } from "vitest";
import { createBackoff, doubling } from "../../../src/client/core/backoff.ts";
import { followFeed } from "../../../src/client/core/follow-feed.ts";
import { follow, INTERRUPTED } from "../../../src/client/core/follow.ts";
import { pause } from "../../../src/client/core/pause.ts";

const REFUSED = new Error("Refused");
const bodyOf = (lines: readonly object[]) =>
  new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join("")).body;

/** Connections, one after the other, that give these lines or fail; the last one has nothing to follow. */
function played(connections: readonly (readonly object[] | Error)[]) {
  let nth = 0;
  const faults: unknown[] = [];
  return {
    faults,
    open: async () => {
      const lines = connections[nth++];
      if (lines instanceof Error) throw lines;
      return await Promise.resolve(lines === undefined ? null : bodyOf(lines));
    },
    comeBack: async (fault: unknown) => {
      faults.push(fault);
      if (fault === REFUSED) throw fault;
      await Promise.resolve();
    },
  };
}

async function all(lines: AsyncIterable<unknown>): Promise<unknown[]> {
  const read: unknown[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

test("follow() goes on over connections that fail, end, or are interrupted, until there is nothing to follow", async () => {
  const away = new TypeError("fetch failed");
  const interrupted = { type: "error", code: "interrupted" };
  const followed = played([[{ a: 1 }], away, [{ a: 2 }, interrupted, { a: "unread" }], [{ a: 3 }]]);
  expect(await all(follow(followed))).toEqual([{ a: 1 }, { a: 2 }, interrupted, { a: 3 }]);
  expect(followed.faults).toEqual([
    new Error("The connection ended"),
    away,
    INTERRUPTED,
    new Error("The connection ended"),
  ]);
  expect(followed.faults[2]).toBe(INTERRUPTED);
});

test("follow() rejects as whoever waits between two connections does", async () => {
  const lines = follow(played([[{ a: 1 }], REFUSED, [{ a: 2 }]]));
  expect((await lines.next()).value).toEqual({ a: 1 });
  await expect(lines.next()).rejects.toBe(REFUSED);
});

test("follow() lets go of the connection when nobody reads on", async () => {
  const cancel = vi.fn<() => void>();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("{}\n")),
    cancel,
  });
  const open = vi.fn(() => Promise.resolve(body));
  for await (const line of follow({ open, comeBack: () => Promise.resolve() })) {
    expect(line).toEqual({});
    break;
  }
  expect(cancel).toHaveBeenCalledOnce();
  expect(open).toHaveBeenCalledOnce();
});

test("followFeed() goes on behind the last item, or the last cursor", async () => {
  const followed = played([
    [{ type: "state", state: "idle" }],
    [{ type: "message", item: { id: "4" } }, { type: "ping" }],
    [{ type: "ping", cursor: "c5" }],
    new Error("Away"),
  ]);
  const asked: (string | null)[] = [];
  const open = (after: string | null) => {
    asked.push(after);
    return followed.open();
  };
  await all(followFeed({ after: "3", open, comeBack: followed.comeBack }));
  expect(asked).toEqual(["3", "3", "4", "c5", "c5"]);
});

test("a backoff waits longer each time, as long as is asked, and from the beginning after a success", () => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
  expect(doubling(250, 30_000)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
  const { next, reset } = createBackoff([1, 2], 4);
  expect([next(), next(), next(), next(7), next()]).toEqual([1, 2, 2, 7, null]);
  reset();
  expect(next()).toBe(1);
  vi.restoreAllMocks();
});

test("a pause ends with its time, or its signal, and leaves no listener on it", async () => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, "removeEventListener");
  const paused = pause(1_000, signal);
  await vi.advanceTimersByTimeAsync(1_000);
  await paused;
  expect(remove).toHaveBeenCalledOnce();
  await pause(1_000, AbortSignal.abort());
  const leaving = new AbortController();
  // In one go: what else runs in this process has timers of its own.
  const timers = vi.getTimerCount();
  const left = pause(1_000, leaving.signal);
  leaving.abort();
  expect(vi.getTimerCount()).toBe(timers);
  await left;
  vi.useRealTimers();
});
