// For src/deploy/dependencies.md
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const manifest = JSON.parse(read("package.json")) as Record<string, Record<string, string> | undefined>;
const lock = JSON.parse(read("package-lock.json")) as {
  packages: Record<string, { license?: string; dev?: boolean; name?: string }>;
};

/** Of everything that is installed without development dependencies. */
const ALLOWED = new Set(["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"]);
/** What a package's own field does not say so. */
const KNOWN: Record<string, string> = {
  duck: "BSD, without a number in its field: its LICENSE is the two-clause one",
  jszip: "MIT OR GPL-3.0-or-later: MIT is chosen",
  pako: "MIT AND Zlib: both ask for their notice alone",
};

test("the page names every dependency with its licence, and no other", () => {
  const rows = [...read("src/deploy/dependencies.md").matchAll(/^\| `([^`]+)` \| ([^|]+) \|/gm)];
  const named = Object.fromEntries(rows.map(([, name = "", licence = ""]) => [name, licence.trim()]));
  const kinds = ["dependencies", "optionalDependencies", "peerDependencies"];
  const wanted = kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
  const licences = wanted.map((name) => [name, lock.packages[`node_modules/${name}`]?.license]);
  expect(named).toEqual(Object.fromEntries(licences));
});

test("nothing is installed with the service whose licence asks for more than its notice", () => {
  const installed = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && dev !== true);
  expect(installed.length).toBeGreaterThan(100);
  const others = installed.flatMap(([path, { license = "none" }]) => {
    const name = path.split("node_modules/").at(-1) ?? "";
    return ALLOWED.has(license) || Object.hasOwn(KNOWN, name) ? [] : [`${name}: ${license}`];
  });
  expect(others).toEqual([]);
});
