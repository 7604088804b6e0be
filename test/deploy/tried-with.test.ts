// For src/deploy/
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { lockedVersion, PAGE, rowsIn, TRIED_WITH } from "./tried-with.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const rows = rowsIn(readFileSync(PAGE, "utf8"));

/** Where one of these fails, `npm run tried-with` plays what is to be tried, and writes the page. */
test("the page of what was tried has a row for each, with a version and a day", () => {
  expect(rows.map(({ what, how, command }) => ({ what, how, command }))).toEqual(
    TRIED_WITH.map(({ what, how, command }) => ({ what, how, command })),
  );
  for (const { what, version, date } of rows) {
    expect([what, version]).toEqual([what, expect.stringMatching(/^\d+(?:\.\d+)+$/)]);
    expect([what, date]).toEqual([what, expect.stringMatching(/^20\d\d-[01]\d-[0-3]\d$/)]);
    expect(Number.isNaN(Date.parse(date))).toBe(false);
  }
});

test("each package was tried in the version that is installed", () => {
  for (const { what, package: name } of TRIED_WITH) {
    if (name === undefined) continue;
    const row = rows.find((each) => each.what === what);
    expect([what, row?.version]).toEqual([what, lockedVersion(name)]);
  }
});

test("each command is there, and plays something", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name}`)
    .filter((name) => name.endsWith(".test.ts"));
  for (const { command } of rows) {
    const script = /^npm run ([\w:-]+)$/.exec(command)?.[1];
    if (script !== undefined) expect(Object.keys(scripts)).toContain(script);
    else {
      const [, paths = ""] = /^npx vitest run --config test\/vitest\.config\.ts (.+)$/.exec(command) ?? [];
      expect([command, paths]).not.toEqual([command, ""]);
      for (const path of paths.split(" "))
        expect([path, files.some((file) => file.startsWith(path))]).toEqual([path, true]);
    }
  }
});
