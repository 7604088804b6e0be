// For src/domain/threads/thread-uid.ts
import fc from "fast-check";
import { expect, test } from "vitest";
import { looksLikeUid, threadUid } from "../../src/domain/threads/thread-uid.ts";

test("a thread's uid is the same for the same three names, and another for any other three", () => {
  const names = fc.tuple(fc.string(), fc.string(), fc.string());
  fc.assert(
    fc.property(names, names, (a, b) => {
      expect(looksLikeUid(threadUid(...a))).toBe(true);
      expect(threadUid(...a) === threadUid(...b)).toBe(
        a.join("\0") === b.join("\0") && a.every((x, i) => x === b[i]),
      );
    }),
  );
  expect(threadUid("a", "b,c", "d")).not.toBe(threadUid("a", "b", "c,d"));
  expect(threadUid('a","b', "c", "d")).not.toBe(threadUid("a", 'b","c', "d"));
});
