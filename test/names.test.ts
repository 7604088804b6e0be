// For src/, machines/
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Under any other name they would be played on one kind of store, and nobody would miss the other. */
test("suites for each kind of store, and no others, are named *.stores.test.ts or *.process-stores.test.ts", () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".test.ts") && name !== "names.test.ts",
  );
  const forEach = files.filter((name) =>
    /\bstoreKinds\b|\bplantableStores\b|\bstoresWithFiles\b|\bplaceForTest\(\)|inject\("stores"\)/.test(
      readFileSync(join(import.meta.dirname, name), "utf8"),
    ),
  );
  expect(forEach.length).toBeGreaterThan(0);
  expect(files.filter((name) => /[.-]stores\.test\.ts$/.test(name))).toEqual(forEach);
});
