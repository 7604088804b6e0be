// For src/stores/backup/seen-uids.ts
import { expect, test } from "vitest";
import { seenUids } from "../../../src/stores/backup/seen-uids.ts";

test("uids that were added are known again, and hardly any other", () => {
  const seen = seenUids();
  const uids = Array.from({ length: 20_000 }, (_, nth) => `uid-${nth}`);
  const [added, others] = [uids.slice(0, 10_000), uids.slice(10_000)];
  for (const uid of added) seen.add(uid);
  expect(added.filter((uid) => !seen.mayHave(uid))).toEqual([]);
  expect(others.filter((uid) => seen.mayHave(uid))).toEqual([]);
});
