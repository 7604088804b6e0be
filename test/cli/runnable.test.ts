// For src/cli/program.ts, src/cli/runnable.ts
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { whyNotRunnable } from "../../src/cli/runnable.ts";
import { temporaryFolder } from "../support/stores/data-dir.ts";

/** A folder as src/build.mjs leaves it. */
function builtFolder(): string {
  const built = temporaryFolder();
  mkdirSync(join(built, "src"));
  writeFileSync(join(built, "src/a.js"), "");
  writeFileSync(
    join(built, "build.json"),
    JSON.stringify({ sources: "x", files: ["src/a.js", "src/a.js.map"] }),
  );
  return built;
}

test.each(["18.20.8", "20.18.3", "16.0.0"])("Node %s is refused by name", async (node) => {
  expect(await whyNotRunnable({ node })).toContain(`this is Node ${node}, and it takes Node 20.19 or newer`);
});

test.each(["20.19.0", "20.20.2", "22.0.0", "26.10.0"])("Node %s is new enough", async (node) => {
  expect(await whyNotRunnable({ node })).toBeNull();
});

test("a whole build runs, and one without its maps too", async () => {
  expect(await whyNotRunnable({ built: builtFolder() })).toBeNull();
});

test("a build that lost a file is named, with the file", async () => {
  const built = builtFolder();
  rmSync(join(built, "src/a.js"));
  expect(await whyNotRunnable({ built })).toContain("holds half a build, src/a.js is missing; npm run build");
});

test("a build that did not come to its end is named", async () => {
  const built = builtFolder();
  rmSync(join(built, "build.json"));
  expect(await whyNotRunnable({ built })).toContain("holds half a build");
});

test("a build whose process died while it replaced files is named", async () => {
  const built = builtFolder();
  // Larger than any process id of Linux.
  writeFileSync(join(built, "replacing.json"), JSON.stringify({ pid: 2 ** 22 + 1 }));
  expect(await whyNotRunnable({ built })).toContain("holds half a build");
});

test("a build that is replacing files is waited for", async () => {
  const built = builtFolder();
  const replacing = join(built, "replacing.json");
  writeFileSync(replacing, JSON.stringify({ pid: process.pid }));
  const why = whyNotRunnable({ built, withinMs: 60_000 });
  setImmediate(() => rmSync(replacing));
  expect(await why).toBeNull();

  writeFileSync(replacing, JSON.stringify({ pid: process.pid }));
  expect(await whyNotRunnable({ built, withinMs: 40 })).toContain("holds half a build");
});
