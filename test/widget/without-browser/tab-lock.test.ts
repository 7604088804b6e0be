import { afterEach, expect, test, vi } from "vitest";
import { tryWithTabLock, withTabLock } from "../../../src/widget/service/tab-lock.ts";

afterEach(() => {
  vi.unstubAllGlobals();
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
  await withTabLock("a", () => false, work);
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
  await expect(withTabLock("a", () => false, work)).rejects.toThrow("No luck");
  await expect(tryWithTabLock("a", work)).rejects.toThrow("No luck");
  expect(work).toHaveBeenCalledTimes(2);
});
