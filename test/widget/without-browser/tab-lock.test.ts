// For src/widget/service/tab-lock.ts
import { afterEach, expect, test, vi } from "vitest";
import { tryWithTabLock, withTabLock } from "../../../src/widget/service/tab-lock.ts";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** As a frame of another site is given it, where the browser keeps no storage for that. */
const refuses = () => Promise.reject(new DOMException("Access denied", "SecurityError"));

/** Browsers differ in where they throw. */
const NAVIGATORS = {
  "each use is refused": { locks: { query: refuses, request: refuses } },
  "only the request is refused": { locks: { query: () => Promise.resolve({}), request: refuses } },
  "the very name is refused": {
    get locks(): never {
      throw new DOMException("Access denied", "SecurityError");
    },
  },
  "there are none": {},
};

test.each(Object.entries(NAVIGATORS))("works without locks, where %s", async (_name, navigator) => {
  vi.stubGlobal("navigator", navigator);
  const work = vi.fn(() => Promise.resolve());
  await withTabLock("a", () => null, work);
  expect(work).toHaveBeenCalledTimes(1);
  expect(await tryWithTabLock("a", work)).toBe(true);
  expect(work).toHaveBeenCalledTimes(2);
});

test("what fails with the lock held fails, and is not done again", async () => {
  const request = (_name: string, ...more: unknown[]) => {
    const hold = more.at(-1);
    return typeof hold === "function" ? (hold() as Promise<void>) : refuses();
  };
  vi.stubGlobal("navigator", { locks: { query: () => Promise.resolve({}), request } });
  const work = vi.fn(() => Promise.reject(new Error("No luck")));
  await expect(withTabLock("a", () => null, work)).rejects.toThrow("No luck");
  await expect(tryWithTabLock("a", work)).rejects.toThrow("No luck");
  expect(work).toHaveBeenCalledTimes(2);
});

/** Locks that nobody waits for. */
function locksOfAnOrigin() {
  const held: { name: string }[] = [];
  return {
    query: () => Promise.resolve({ held: [...held] }),
    async request(name: string, ...more: unknown[]) {
      const lock = { name };
      held.push(lock);
      try {
        return await (more.at(-1) as () => Promise<unknown>)();
      } finally {
        held.splice(held.indexOf(lock), 1);
      }
    },
  };
}

test("sees what a tab before it stored, though that tab is done and storage lags", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  vi.stubGlobal("navigator", { locks: locksOfAnOrigin() });
  let shared: string | null = null;
  const store = (value: string) => () => Promise.resolve((shared = value));
  await withTabLock("a", () => shared, store("visitor-1"));
  // Its own is there at once.
  await withTabLock("a", () => shared, store("thread-1"));

  vi.resetModules();
  const other = await import("../../../src/widget/service/tab-lock.ts");
  let seen: string | null = null;
  const work = vi.fn(() => Promise.resolve(seen));
  const done = other.withTabLock("a", () => seen, work);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).not.toHaveBeenCalled();
  seen = shared;
  await vi.advanceTimersByTimeAsync(50);
  expect(await done).toBe("thread-1");

  // Nobody waits for what is seen by now.
  await vi.advanceTimersByTimeAsync(10_000);
  seen = null;
  expect(await other.withTabLock("a", () => seen, work)).toBeNull();
});

test("waits for no tab that failed", async () => {
  vi.stubGlobal("navigator", { locks: locksOfAnOrigin() });
  const fail = () => Promise.reject(new Error("No luck"));
  await expect(withTabLock("a", () => null, fail)).rejects.toThrow("No luck");
  expect(
    await withTabLock(
      "a",
      () => null,
      () => Promise.resolve("made"),
    ),
  ).toBe("made");
});
