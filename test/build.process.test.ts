// For src/build.mjs, src/build-sources.mjs, src/build-in-place.mjs, src/console/build.mjs, src/demo/build.mjs,
// src/widget/build.mjs
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { emptyFolder } from "./support/stores/data-dir.ts";

/** `npm run build` in a copy of the sources: what is in dist/ may be running. */
const root = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = ["src", "machines", "package.json", "package-lock.json", "tsconfig.json"];

let copy: string;
beforeAll(async () => {
  copy = emptyFolder();
  for (const path of SOURCES) cpSync(join(root, path), join(copy, path), { recursive: true });
  linkProductionPackages();
  await build();
});

/** What `npm ci --omit=dev` installs. */
function linkProductionPackages(): void {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [path, { dev }] of Object.entries(packages)) {
    const isTopLevel = /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path);
    if (!isTopLevel || dev === true || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    symlinkSync(join(root, path), join(copy, path));
  }
}

const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, args, { cwd: copy }).catch(
    (failed: { stdout: string; stderr: string }) => failed,
  );
const build = () => run("src/build.mjs");
const version = () => run("dist/src/cli/chat-agent.js", "--version");
const check = () => run("src/build.mjs", "--check");

/** Files of every part, with the folder that each is in. */
const SOME = [
  "src/cli/chat-agent.js",
  "src/errors.js",
  "widget/manifest.json",
  "demo/shop.js",
  "console/index.html",
];

test("builds with the packages of production alone", async () => {
  expect(existsSync(join(copy, "node_modules/typescript"))).toBe(false);
  expect((await version()).stdout).toMatch(/^\d+\.\d+\.\d+/);
  for (const file of SOME) expect([file, existsSync(join(copy, "dist", file))]).toEqual([file, true]);
});

test("a build of what is up to date writes nothing", async () => {
  const changedAt = () =>
    ["", ...SOME, "build.json"].map((file) => statSync(join(copy, "dist", file)).ctimeMs);
  const before = changedAt();
  // As a checkout or a copy does: another time, and the same content.
  writeFileSync(join(copy, "src/errors.ts"), readFileSync(join(copy, "src/errors.ts")));
  await build();
  expect(changedAt()).toEqual(before);
});

test("a build never takes away what runs: no file of it is missing at any time", async () => {
  writeFileSync(join(copy, "src/gone.ts"), "export const gone = 1;\n");
  await build();
  writeFileSync(
    join(copy, "src/errors.ts"),
    `${readFileSync(join(copy, "src/errors.ts"), "utf8")}\nexport const more = 1;\n`,
  );
  rmSync(join(copy, "src/gone.ts"));

  const child = spawn(process.execPath, ["src/build.mjs"], { cwd: copy });
  const exit = once(child, "exit");
  let looks = 0;
  const missing = new Set<string>();
  while (child.exitCode === null) {
    for (const file of SOME) if (!existsSync(join(copy, "dist", file))) missing.add(file);
    looks++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await exit).toEqual([0, null]);
  expect(looks).toBeGreaterThan(10);
  expect([...missing]).toEqual([]);
  expect(readFileSync(join(copy, "dist/src/errors.js"), "utf8")).toContain("more = 1");
  expect(existsSync(join(copy, "dist/src/gone.js"))).toBe(false);
});

test("half a build is noticed and named, by a start too, and the next build makes it whole", async () => {
  rmSync(join(copy, "dist/demo/shop.js"));
  expect((await version()).stderr).toMatch(
    /^Cannot run: .*half a build, demo\/shop.js is missing; npm run build/,
  );
  expect((await check()).stderr).toContain("Cannot start: dist/ holds half a build: demo/shop.js is missing");
  await build();
  expect((await version()).stderr).toBe("");

  rmSync(join(copy, "dist"), { recursive: true });
  expect((await check()).stderr).toContain("Cannot start: the service is not built; npm run build");
  await build();
  expect((await check()).stderr).toBe("");
});

test("a start from a build that is older than the sources says so, and goes on", async () => {
  writeFileSync(
    join(copy, "src/errors.ts"),
    `${readFileSync(join(copy, "src/errors.ts"), "utf8")}\n// newer\n`,
  );
  const checked = await check();
  expect(checked.stderr).toContain("dist/ is older than the sources");
  expect(checked).not.toHaveProperty("code");
});
